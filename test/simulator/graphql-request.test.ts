import { describe, expect, it } from 'vitest';
import { parseGraphqlRequest } from '../../src/simulator/graphql-request.ts';

describe('parseGraphqlRequest', () => {
  it.each([
    { what: 'no JSON', body: 'query' },
    { what: 'a JSON text', body: '"{a}"' },
    { what: 'a list', body: '[{"query":"{a}"}]' },
    { what: 'null', body: 'null' },
    { what: 'no document', body: '{"variables":{}}' },
    { what: 'a document that is no text', body: '{"query":1}' },
    { what: 'a document that is not GraphQL', body: '{"query":"{a"}' },
    { what: 'fragments only', body: '{"query":"fragment A on B { c }"}' },
    { what: 'an operation that is not there', body: '{"query":"query A {a}","operationName":"B"}' },
  ])('finds no request in $what', ({ body }) => {
    expect(parseGraphqlRequest(body)).toBeUndefined();
  });

  it.each([
    { operationName: 'B', name: 'B' },
    { operationName: null, name: 'A' },
    { operationName: '', name: 'A' },
  ])('takes the operation $name for the name $operationName', ({ operationName, name }) => {
    const query = 'query A { a } query B { b }';

    const request = parseGraphqlRequest(JSON.stringify({ query, operationName }));

    expect(request?.operation.name?.value).toBe(name);
  });

  it.each([
    { variables: { a: 3 }, expected: { a: 3, b: ['x'] } },
    { variables: null, expected: { a: 1, b: ['x'] } },
    { variables: 'none', expected: { a: 1, b: ['x'] } },
  ])('fills in the defaults of variables: $variables', ({ variables, expected }) => {
    const query = 'query ($a: Int = 1, $b: [String] = ["x"], $c: Int) { a }';

    expect(parseGraphqlRequest(JSON.stringify({ query, variables }))?.variables).toEqual(expected);
  });
});
