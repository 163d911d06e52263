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
  ])('finds no request in $what', ({ body }) => {
    expect(parseGraphqlRequest(body)).toBeUndefined();
  });

  it.each([
    { operationName: 'B', name: 'B' },
    { operationName: null, name: undefined },
    { operationName: '', name: undefined },
  ])('takes the operation $name for the name $operationName', ({ operationName, name }) => {
    const query = 'query A { a } query B { b }';

    const request = parseGraphqlRequest(JSON.stringify({ query, operationName }));

    expect(request).toMatchObject({ text: query, operationName: name });
  });

  it.each([
    { variables: { a: 3 }, expected: { a: 3 } },
    { variables: null, expected: {} },
    { variables: 'none', expected: {} },
  ])('takes variables as they are: $variables', ({ variables, expected }) => {
    const body = JSON.stringify({ query: '{ a }', variables });

    expect(parseGraphqlRequest(body)?.variables).toEqual(expected);
  });
});
