import { type ExecutionResult, executeSync } from 'graphql/execution/execute.js';
import { pathToArray } from 'graphql/jsutils/Path.js';
import type { DocumentNode } from 'graphql/language/ast.js';
import { parse } from 'graphql/language/parser.js';
import { own } from '../model/own.ts';
import type { Answer } from './answer.ts';
import { nerdgraphSchema } from './graphql-schema.ts';

/** An object of JSON, with any members. */
export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

/** Returns `undefined` for a body that is not JSON with a GraphQL document. */
export function parseGraphqlRequest(body: string): GraphqlRequest | undefined {
  try {
    const json: unknown = JSON.parse(body);
    if (!isJson(json) || typeof json['query'] !== 'string') return undefined;
    const { query: text, operationName: name, variables } = json;
    return {
      text,
      document: parse(text),
      operationName: typeof name === 'string' && name !== '' ? name : undefined,
      variables: isJson(variables) ? variables : {},
    };
  } catch {
    return undefined;
  }
}

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

/** A field of NerdGraph that fails: it becomes null, and the answer gets an error with its path. */
export class GraphqlFailure extends Error {
  override readonly name = 'GraphqlFailure';
  readonly extensions: Readonly<Record<string, string>>;

  constructor(errorClass: string, message: string, classification?: string) {
    super(message);
    this.extensions = extensionsOf(errorClass, classification);
  }
}

/** What the vendor says about a failure beside its message. */
export function extensionsOf(
  errorClass: string,
  classification?: string,
): Readonly<Record<string, string>> {
  return { errorClass, ...(classification === undefined ? {} : { classification }) };
}

/**
 * What is beyond this simulator, and may be right. The class is its own, so that nobody takes it for a
 * refusal of the vendor.
 */
export function notSimulated(what: string): GraphqlFailure {
  return new GraphqlFailure('NOT_SIMULATED', `the simulator does not know ${what}`);
}

/** A mistake in a query language of the vendor, such as NRQL. */
export function invalidInput(message: string): GraphqlFailure {
  return new GraphqlFailure('INVALID_INPUT', message);
}

const headers = { 'Content-Type': 'application/json;charset=utf-8' };

/** An answer of NerdGraph: nearly always a 200, with `errors` or without. */
export function graphqlAnswer(result: object): Answer {
  return { status: 200, headers, body: JSON.stringify(result) };
}

/** A refusal of the whole request. */
export function graphqlRefusal(
  status: number,
  message: string,
  extensions: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: JSON.stringify({ errors: [{ message, extensions }] }) };
}

/** What the simulated NerdGraph counts, and what faults can be meant for. */
export type GraphqlOperation = 'entity_search' | 'nrql';

/** A field of a request that reads data. */
export interface GraphqlAsk {
  readonly operation: GraphqlOperation;
  /** Where its value is in the answer; the last element is the alias or name. */
  readonly path: readonly string[];
  /** The NRQL, or the query of an entity search; empty for none. */
  readonly text: string;
}

/** What a request asked for, as the journal keeps it. */
export interface GraphqlAsked {
  /** The document and the variables as JSON, cut off after some thousand characters. */
  readonly text: string;
  readonly asks: readonly GraphqlAsk[];
}

const operations: Readonly<Record<string, GraphqlOperation>> = {
  nrql: 'nrql',
  entitySearch: 'entity_search',
};

const keptCharacters = 16_384;

/** The fields of a request that read data, in the order of the document. */
export function asksOf(request: GraphqlRequest): readonly GraphqlAsk[] {
  const asks: GraphqlAsk[] = [];
  executeSync({
    schema: nerdgraphSchema,
    document: request.document,
    operationName: request.operationName,
    variableValues: request.variables,
    fieldResolver: (_source, { query }: GraphqlArguments, _context, { fieldName, path }) => {
      const operation = own(operations, fieldName);
      if (operation === undefined) return {};
      const text = typeof query === 'string' ? query : '';
      asks.push({ operation, path: pathToArray(path).map(String), text });
      return null;
    },
  });
  return asks;
}

/** The entry of the journal for a request that asks so. `hide` takes secrets out of a text. */
export function askedOf(
  request: GraphqlRequest,
  asks: readonly GraphqlAsk[],
  hide: (text: string) => string,
): GraphqlAsked {
  const text = hide(`${request.text}\n${JSON.stringify(request.variables)}`);
  return {
    text: text.slice(0, keptCharacters),
    asks: asks.map((ask) => ({
      ...ask,
      text: hide(ask.text).slice(0, keptCharacters),
    })),
  };
}
