import { describe, expect, it } from 'vitest';
import { entitiesDocument, nrqlDocument } from '../../src/nerdgraph/graphql-client.ts';
import { aNerdgraphAccount } from '../simulator/nerdgraph-account.ts';
import { schemaProblems } from '../support/nerdgraph-schema.ts';

/** The paths of what is null in a document. */
function nullsIn(value: unknown, path = ''): readonly string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([name, member]) =>
    nullsIn(member, `${path}/${name}`),
  );
}

describe('the documents of the exporter', () => {
  it.each([{ document: nrqlDocument }, { document: entitiesDocument }])(
    'are valid in the schema of the vendor: $document',
    ({ document }) => {
      expect(schemaProblems(document)).toEqual([]);
    },
  );

  it.each([
    { mistake: 'an unknown field', from: 'otherResult', to: 'others', says: 'Cannot query field' },
    { mistake: 'a text as the account', from: 'Int!', to: 'String!', says: 'type "String!"' },
    { mistake: 'a text as the query', from: 'Nrql!', to: 'String!', says: 'type "String!"' },
    {
      mistake: 'an unknown argument',
      from: ', timeout:',
      to: ', limit:',
      says: 'Unknown argument',
    },
  ])('would not be valid with $mistake', ({ from, to, says }) => {
    expect(schemaProblems(nrqlDocument.replace(from, to)).join('\n')).toContain(says);
  });

  it('get everything that they ask for from the simulator', () => {
    const { ask } = aNerdgraphAccount({ applications: [{ kind: 'web', hosts: 1 }] });
    const nrql = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric FACET appId';

    const answers = [
      ask(nrqlDocument, { account: 1_234_567, nrql, timeout: 30 }),
      ask(entitiesDocument, { search: "domain = 'APM' AND type = 'APPLICATION'", cursor: null }),
    ];

    expect(answers.map((answer) => nullsIn(answer))).toEqual([
      [],
      ['/data/actor/entitySearch/results/nextCursor'],
    ]);
  });
});
