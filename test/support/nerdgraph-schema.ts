import { parse, validate } from 'graphql';
import { nerdgraphSchema } from '../../src/simulator/graphql-schema.ts';

/** What the vendor's schema has against a document: unknown fields, wrong types of variables. */
export function schemaProblems(document: string): readonly string[] {
  return validate(nerdgraphSchema, parse(document)).map(({ message }) => message);
}
