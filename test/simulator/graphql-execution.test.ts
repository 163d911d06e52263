import { describe, expect, it } from 'vitest';
import { executeGraphql, type GraphqlObject } from '../../src/simulator/graphql-execution.ts';
import { GraphqlFailure } from '../../src/simulator/graphql-failure.ts';
import { parseGraphqlRequest } from '../../src/simulator/graphql-request.ts';

const root: GraphqlObject = {
  name: 'root',
  echo: (args: unknown) => ({ args }),
  scalar: { any: { thing: [1, null] } },
  animals: [
    { '@types': ['Cat', 'Animal'], name: 'Tom', lives: 9 },
    { '@types': ['Dog', 'Animal'], name: 'Rex' },
    null,
  ],
  broken: () => {
    throw new GraphqlFailure('TIMEOUT', 'too slow', 'Slow');
  },
  list: () => [
    {
      broken: () => {
        throw new GraphqlFailure('SERVER_ERROR', 'no');
      },
    },
  ],
};

function execute(query: string, variables: Readonly<Record<string, unknown>> = {}): unknown {
  const request = parseGraphqlRequest(JSON.stringify({ query, variables }));
  return request === undefined ? undefined : executeGraphql(request, root);
}

const answers: readonly {
  readonly what: string;
  readonly query: string;
  readonly data: unknown;
}[] = [
  { what: 'a field', query: '{ name }', data: { name: 'root' } },
  { what: 'an alias', query: '{ a: name b: name }', data: { a: 'root', b: 'root' } },
  { what: 'null for an unknown field', query: '{ other { x } }', data: { other: null } },
  { what: 'null for what every object has', query: '{ toString }', data: { toString: null } },
  {
    what: 'a scalar that is an object',
    query: '{ scalar { any } }',
    data: { scalar: { any: { thing: [1, null] } } },
  },
  {
    what: 'constants as arguments',
    query: '{ echo(i: 1, f: 0.5, s: "x", e: NAME, o: {a: [true]}, n: null) { args } }',
    data: { echo: { args: { i: 1, f: 0.5, s: 'x', e: 'NAME', o: { a: [true] } } } },
  },
  {
    what: 'variables as arguments, and their defaults',
    query: 'query ($a: Int, $b: Int = 2, $c: Int) { echo(a: $a, b: $b, c: $c) { args } }',
    data: { echo: { args: { a: 1, b: 2 } } },
  },
  {
    what: 'fragments of the type of an object, or of an interface',
    query:
      '{ animals { __typename ... on Animal { name } ...Cat ... on Fish { gills } ... { x: name } } } fragment Cat on Cat { lives }',
    data: {
      animals: [
        { __typename: 'Cat', name: 'Tom', lives: 9, x: 'Tom' },
        { __typename: 'Dog', name: 'Rex', x: 'Rex' },
        null,
      ],
    },
  },
  {
    what: 'all parts of a field that is there twice',
    query: '{ animals { name } animals { lives } }',
    data: { animals: [{ name: 'Tom', lives: 9 }, { name: 'Rex', lives: null }, null] },
  },
  {
    what: 'only what the directives leave',
    query:
      'query ($no: Boolean = false) { a: name @include(if: $no) b: name @skip(if: true) c: name @include(if: true) d: name @skip(if: $no) }',
    data: { c: 'root', d: 'root' },
  },
  {
    what: 'no fragment for ever',
    query: '{ ...A } fragment A on X { name ...B } fragment B on X { ...A ...None }',
    data: { name: 'root' },
  },
];

describe('executeGraphql', () => {
  it.each(answers)('answers with $what', ({ query, data }) => {
    expect(execute(query, { a: 1 })).toEqual({ data });
  });

  it('gives null and an error with its path for each field that fails', () => {
    expect(execute('{\n  name\n  a: broken\n  list { broken }\n}')).toEqual({
      data: { name: 'root', a: null, list: [{ broken: null }] },
      errors: [
        {
          message: 'too slow',
          locations: [{ line: 3, column: 3 }],
          path: ['a'],
          extensions: { errorClass: 'TIMEOUT', classification: 'Slow' },
        },
        {
          message: 'no',
          locations: [{ line: 4, column: 10 }],
          path: ['list', 0, 'broken'],
          extensions: { errorClass: 'SERVER_ERROR' },
        },
      ],
    });
  });
});
