// Only the parser: the whole package would be a fifth of the bundle.
import type {
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
} from 'graphql/language/ast.js';
import { Kind } from 'graphql/language/kinds.js';
import { parse } from 'graphql/language/parser.js';
import { valueFromASTUntyped } from 'graphql/utilities/valueFromASTUntyped.js';

/** The values of the variables of a request. */
export type GraphqlVariables = Readonly<Record<string, unknown>>;

/** A body of `POST /graphql`, parsed. */
export interface GraphqlRequest {
  /** The document as it was sent. */
  readonly text: string;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** With the defaults of the document. */
  readonly variables: GraphqlVariables;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function parsedDocument(text: string): DocumentNode | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function operationOf(document: DocumentNode, name: unknown): OperationDefinitionNode | undefined {
  return document.definitions.find(
    (definition): definition is OperationDefinitionNode =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      (typeof name !== 'string' || name === '' || definition.name?.value === name),
  );
}

function variablesOf(operation: OperationDefinitionNode, given: unknown): GraphqlVariables {
  const defaults = (operation.variableDefinitions ?? [])
    .filter((definition) => definition.defaultValue !== undefined)
    .map((definition): [string, unknown] => [
      definition.variable.name.value,
      definition.defaultValue === undefined ? null : valueFromASTUntyped(definition.defaultValue),
    ]);
  return { ...Object.fromEntries(defaults), ...(isObject(given) ? given : {}) };
}

/** Returns `undefined` for a body that is not JSON with a GraphQL document. */
export function parseGraphqlRequest(body: string): GraphqlRequest | undefined {
  const json = parsedJson(body);
  if (!isObject(json) || typeof json['query'] !== 'string') return undefined;
  const document = parsedDocument(json['query']);
  if (document === undefined) return undefined;
  const operation = operationOf(document, json['operationName']);
  if (operation === undefined) return undefined;
  const fragments = document.definitions
    .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
    .map((definition): [string, FragmentDefinitionNode] => [definition.name.value, definition]);
  return {
    text: json['query'],
    operation,
    fragments: new Map(fragments),
    variables: variablesOf(operation, json['variables']),
  };
}
