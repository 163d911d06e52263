import { describe, expect, it } from 'vitest';
import { executeGraphql, type GraphqlObject } from '../../src/simulator/graphql-execution.ts';
import { GraphqlFailure } from '../../src/simulator/graphql-failure.ts';
import { parseGraphqlRequest } from '../../src/simulator/graphql-request.ts';

const root: GraphqlObject = {
  actor: {
    user: { name: 'Ann' },
    account: ({ id }: { readonly id: number }) => ({ id, name: `account ${id}` }),
    accounts: () => {
      throw new GraphqlFailure('TIMEOUT', 'too slow', 'Slow');
    },
    entities: [
      { __typename: 'ApmApplicationEntity', name: 'shop', applicationId: 7 },
      null,
      {
        __typename: 'ApmApplicationEntity',
        name: () => {
          throw new GraphqlFailure('SERVER_ERROR', 'no');
        },
      },
    ],
  },
};

function execute(query: string, variables: Readonly<Record<string, unknown>> = {}): unknown {
  const request = parseGraphqlRequest(JSON.stringify({ query, variables }));
  const result = request === undefined ? undefined : executeGraphql(request, root);
  return JSON.parse(JSON.stringify(result ?? null));
}

describe('executeGraphql', () => {
  it('answers with values, functions of arguments, and fragments of the type of an object', () => {
    const query = `query ($a: Int!, $b: Int = 2) { actor {
      u: user { name }
      one: account(id: $a) { id }
      two: account(id: $b) { name }
    } }`;

    expect(execute(query, { a: 1 })).toEqual({
      data: { actor: { u: { name: 'Ann' }, one: { id: 1 }, two: { name: 'account 2' } } },
    });
  });

  it('gives null and an error with its path for each field that fails', () => {
    const query = `{ actor {
  a: accounts { id }
  entities(guids: []) { __typename name ... on ApmApplicationEntity { applicationId } }
} }`;

    expect(execute(query)).toEqual({
      data: {
        actor: {
          a: null,
          entities: [
            { __typename: 'ApmApplicationEntity', name: 'shop', applicationId: 7 },
            null,
            { __typename: 'ApmApplicationEntity', name: null, applicationId: null },
          ],
        },
      },
      errors: [
        {
          message: 'too slow',
          locations: [{ line: 2, column: 3 }],
          path: ['actor', 'a'],
          extensions: { errorClass: 'TIMEOUT', classification: 'Slow' },
        },
        {
          message: 'no',
          locations: [{ line: 3, column: 36 }],
          path: ['actor', 'entities', 2, 'name'],
          extensions: { errorClass: 'SERVER_ERROR' },
        },
      ],
    });
  });

  it.each([
    { variables: {}, says: '"$a" of required type "Int!" was not provided' },
    { variables: { a: '1' }, says: 'Int cannot represent non-integer value: "1"' },
  ])('answers nothing if a variable is wrong: $says', ({ variables, says }) => {
    const answer = execute('query ($a: Int!) { actor { account(id: $a) { id } } }', variables);

    expect(answer).toEqual({
      errors: [expect.objectContaining({ message: expect.stringContaining(says) as string })],
    });
  });
});
