import { isJsonObject } from '../../../src/newrelic/answer.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { hostFacets } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { answerOf } from '../../support/fake-transport.ts';

/** The account of all tests of NerdGraph. */
export const accountId = 1_234_567;

export type Json = Readonly<Record<string, unknown>>;

/** One of the `errors` of an answer. */
export function anError(
  errorClass: string,
  message = 'it failed',
  extensions: Json = {},
): { readonly message: string; readonly extensions: Json } {
  return { message, extensions: { errorClass, ...extensions } };
}

/** An answer under 200 in which the field `nrql` has failed. */
export function failedNrql(...errors: readonly unknown[]): ApiResponse {
  return answerOf({ data: { actor: { account: { nrql: null } } }, errors });
}

/** The field `nrql` for a query about the hosts of a minute: a whole answer. */
export function nrqlPart(rows: readonly unknown[], overrides: Json = {}): Json {
  return {
    results: rows,
    otherResult: { calls: 0 },
    totalResult: { calls: callsOf(rows) },
    metadata: { facets: hostFacets, messages: [], timeWindow: { begin: 0, end: 60_000 } },
    ...overrides,
  };
}

function callsOf(rows: readonly unknown[]): number {
  return rows
    .filter(isJsonObject)
    .reduce((sum, { calls }) => sum + (Number.isFinite(Number(calls)) ? Number(calls) : 0), 0);
}

/** The answer to a query. */
export function nrqlAnswer(part: unknown, errors?: readonly unknown[]): ApiResponse {
  return answerOf({ data: { actor: { account: { nrql: part } } }, ...(errors && { errors }) });
}

/** The answer to a search, one page of it. */
export function pageAnswer(entities: readonly unknown[], nextCursor: unknown = null): ApiResponse {
  return searchAnswer({ count: entities.length, results: { nextCursor, entities } });
}

function searchAnswer(entitySearch: unknown, errors?: readonly unknown[]): ApiResponse {
  return answerOf({ data: { actor: { entitySearch } }, ...(errors && { errors }) });
}

/** An entity of a search, as New Relic writes it. */
export function anEntity(id: number, overrides: Json = {}): Json {
  return {
    guid: `guid-${id}`,
    name: `app ${id}`,
    accountId,
    reporting: true,
    alertSeverity: 'NOT_ALERTING',
    applicationId: id,
    language: 'java',
    settings: { apdexTarget: 0.5 },
    apmSummary: {
      throughput: 812.4,
      responseTimeAverage: 0.041,
      apdexScore: 0.98,
      hostCount: 2,
      instanceCount: 4,
    },
    ...overrides,
  };
}
