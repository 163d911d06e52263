import { type ExecutionResult, executeSync } from 'graphql/execution/execute.js';
import type { GraphqlRequest } from './graphql-request.ts';
import { nerdgraphSchema } from './graphql-schema.ts';

/** The arguments of a field, with variables and defaults filled in. Enums are texts. */
export type GraphqlArguments = Readonly<Record<string, unknown>>;

/**
 * An object of the schema. Each member is a value, another object, a list of them, or a function of the
 * `GraphqlArguments` that works it out and may throw a `GraphqlFailure`. `__typename` says which of the
 * types of an interface it is.
 */
export type GraphqlObject = Readonly<Record<string, unknown>>;

/** Answers a request; with errors only, if its variables or its operation are wrong. */
export function executeGraphql(
  { document, operationName, variables }: GraphqlRequest,
  root: GraphqlObject,
): ExecutionResult {
  return executeSync({
    schema: nerdgraphSchema,
    document,
    operationName,
    variableValues: variables,
    rootValue: root,
  });
}
