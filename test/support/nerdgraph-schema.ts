import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';

const schemaText = readFileSync(new URL('nerdgraph-schema.graphql', import.meta.url), 'utf8');

/** What the vendor's schema has against a document: unknown fields, wrong types of variables. */
export function schemaProblems(document: string): readonly string[] {
  return validate(buildSchema(schemaText), parse(document)).map(({ message }) => message);
}
