import { describe, expect, it } from 'vitest';
import {
  entitiesQuery,
  nrqlDocument,
  taggedEntitiesDocument,
} from '../../src/newrelic/nerdgraph/graphql-client.ts';
import { schemaProblems } from '../support/nerdgraph-schema.ts';
import { readSourceFiles } from './source-files.ts';

/** Everything in NerdGraph is in this field. */
const field = /\bactor\s*\{/gu;
/** A text in quotes that has the field. */
const text = /(?<=')[^'\n]*\bactor\s*\{[^'\n]*(?=')/gu;

describe('the GraphQL documents of the program', () => {
  const files = readSourceFiles().filter(({ path }) => !path.startsWith('simulator/'));
  const documents = files.flatMap((file) =>
    (file.text.match(text) ?? []).map((document) => ({ path: file.path, document })),
  );

  it.each(documents)('are valid in the schema of New Relic: $path, $document', ({ document }) => {
    expect(schemaProblems(document)).toEqual([]);
  });

  it('are valid with tags, too', () => {
    expect(schemaProblems(taggedEntitiesDocument)).toEqual([]);
    expect(taggedEntitiesDocument).toContain('tags { key values }');
  });

  it('are all seen, however they are written', () => {
    const fields = files.flatMap((file) => file.text.match(field) ?? []);

    expect(documents.map(({ document }) => document)).toEqual(
      expect.arrayContaining([nrqlDocument, entitiesQuery]),
    );
    expect(documents).toHaveLength(fields.length);
  });
});
