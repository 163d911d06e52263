import type { DocumentNode } from 'graphql/language/ast.js';
import { parse } from 'graphql/language/parser.js';

/** A body of `POST /graphql`, parsed. */
export interface GraphqlRequest {
  /** The document as it was sent. */
  readonly text: string;
  readonly document: DocumentNode;
  /** Needed only if the document has several operations. */
  readonly operationName: string | undefined;
  /** As they were sent. */
  readonly variables: Readonly<Record<string, unknown>>;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns `undefined` for a body that is not JSON with a GraphQL document. */
export function parseGraphqlRequest(body: string): GraphqlRequest | undefined {
  try {
    const json: unknown = JSON.parse(body);
    if (!isObject(json) || typeof json['query'] !== 'string') return undefined;
    const { query: text, operationName: name, variables } = json;
    return {
      text,
      document: parse(text),
      operationName: typeof name === 'string' && name !== '' ? name : undefined,
      variables: isObject(variables) ? variables : {},
    };
  } catch {
    return undefined;
  }
}
