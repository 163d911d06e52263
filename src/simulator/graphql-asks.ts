import { executeSync } from 'graphql/execution/execute.js';
import { pathToArray } from 'graphql/jsutils/Path.js';
import { own } from '../model/own.ts';
import type { GraphqlArguments } from './graphql-execution.ts';
import type { GraphqlRequest } from './graphql-request.ts';
import { nerdgraphSchema } from './graphql-schema.ts';

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

/** The entry of the journal for a request. `hide` takes secrets out of a text. */
export function askedOf(request: GraphqlRequest, hide: (text: string) => string): GraphqlAsked {
  const text = hide(`${request.text}\n${JSON.stringify(request.variables)}`);
  return {
    text: text.slice(0, keptCharacters),
    asks: asksOf(request).map((ask) => ({
      ...ask,
      text: hide(ask.text).slice(0, keptCharacters),
    })),
  };
}
