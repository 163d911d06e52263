// As the simulator imports them: the schema of another copy would be refused.
import { parse } from 'graphql/language/parser.js';
import { validate } from 'graphql/validation/validate.js';
import { nerdgraphSchema } from '../../src/simulator/graphql-schema.ts';

/** What the vendor's schema has against a document: unknown fields, wrong types of variables. */
export function schemaProblems(document: string): readonly string[] {
  return validate(nerdgraphSchema, parse(document)).map(({ message }) => message);
}
