import type { Clock } from '../model/clock.ts';
import type { GraphqlArguments, GraphqlObject } from './graphql-execution.ts';
import { GraphqlFailure, invalidInput } from './graphql-failure.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import { checkNrql } from './nrql-checks.ts';
import { evaluateNrql, type NrqlFindings, nrqlWindowOf } from './nrql-evaluation.ts';
import { type NrqlEvents, simulatedEventTypes } from './nrql-events.ts';
import { asksForEventTypes, parseNrql } from './nrql-parser.ts';
import type { NrqlQuery } from './nrql-query.ts';
import type { NrqlRows } from './nrql-rows.ts';

/** Answers the field `nrql`. Throws `INVALID_INPUT`, `TIMEOUT`, and the refusal of a query that is too big, and `NOT_SIMULATED`. */
export type NrqlField = (args: GraphqlArguments) => GraphqlObject;

export type NrqlCost = Pick<
  GraphqlSettings,
  'snapMs' | 'rowsPerSecond' | 'mostRows' | 'maxNrqlCharacters'
>;

const defaultTimeoutSeconds = 5;

const queryProgress = { completed: true, queryId: null, resultExpiration: null, retryAfter: null };

function checkCost(findings: NrqlFindings, timeout: unknown, cost: NrqlCost): void {
  const seconds = typeof timeout === 'number' ? timeout : defaultTimeoutSeconds;
  if (findings.matchedRows > cost.mostRows) {
    throw new GraphqlFailure(
      'SERVER_ERROR',
      "We're sorry, but that query is a little too big. Try a shorter time range or, if faceting, reduce the LIMIT.",
    );
  }
  if (findings.matchedRows / cost.rowsPerSecond > seconds) {
    throw new GraphqlFailure('TIMEOUT', 'NRDB query duration exceeded the set timeout');
  }
}

/**
 * Clients of NerdGraph find one row with `eventType` for each type (third parties' code; New Relic documents
 * the query only). What the metadata says of the time is not known, so it says nothing.
 */
function eventTypesIn(text: string): GraphqlObject {
  return {
    nrql: text,
    results: simulatedEventTypes.map((eventType) => ({ eventType })),
    currentResults: null,
    previousResults: null,
    otherResult: null,
    totalResult: null,
    queryProgress,
    metadata: { eventTypes: null, facets: null, messages: [], timeWindow: null },
  };
}

function containerOf(text: string, query: NrqlQuery, findings: NrqlFindings): GraphqlObject {
  const { fromMs, toMs } = findings.window;
  const facets = query.facets.map(({ text: written }) => written);
  return {
    nrql: text,
    results: findings.results,
    currentResults: null,
    previousResults: null,
    otherResult: findings.otherResult,
    totalResult: findings.totalResult,
    queryProgress,
    metadata: {
      eventTypes: query.eventTypes,
      eventType: query.eventTypes[0],
      facets: facets.length === 0 ? null : facets,
      messages: [],
      timeWindow: {
        begin: fromMs,
        end: toMs,
        compareWith: null,
        since: String(fromMs),
        until: String(toMs),
      },
    },
  };
}

export function createNrqlField(
  cost: NrqlCost,
  dependencies: {
    readonly rows: NrqlRows;
    readonly events: NrqlEvents;
    readonly clock: Clock;
  },
): NrqlField {
  const { rows, events, clock } = dependencies;
  return ({ query: text, timeout }) => {
    if (typeof text !== 'string') throw invalidInput('The argument query is required');
    if (text.length > cost.maxNrqlCharacters) {
      throw invalidInput(
        `The NRQL query is too long: it has ${text.length} characters, and may have ${cost.maxNrqlCharacters}`,
      );
    }
    if (asksForEventTypes(text)) return eventTypesIn(text);
    const query = parseNrql(text);
    checkNrql(query, clock.wallMs());
    const window = nrqlWindowOf(query, clock.wallMs(), cost.snapMs);
    const findings = evaluateNrql(query, rows, window, events);
    checkCost(findings, timeout, cost);
    return containerOf(text, query, findings);
  };
}
