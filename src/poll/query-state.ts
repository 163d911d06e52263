import { isDeepStrictEqual } from 'node:util';
import type { ApiError } from '../model/api-error.ts';
import type { Now } from '../model/clock.ts';
import type { Query } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import { hasValues, type QueryReading } from '../model/snapshot.ts';
import {
  afterPollOf,
  failingFrom,
  type SubjectState,
  unpolled,
  whyOfError,
} from './subject-state.ts';

/** All that the poller remembers about one query. */
export interface QueryState extends SubjectState {
  readonly kind: 'query';
  readonly query: Query;
  readonly reading: QueryReading | undefined;
  /** Monotonic time since when its polls have failed; `undefined` if the last one did not. */
  readonly failedMs: number | undefined;
  /** Answers without any series since the start; `undefined` once there was one. */
  readonly emptyAnswers: number | undefined;
}

/** Why a query has never had a value, and what to do; `undefined` if it has, or too little is known. */
export function missingTextOf({ emptyAnswers = 0, reading }: QueryState): string | undefined {
  return emptyAnswers < 2 || reading === undefined ? undefined : emptyTextOf(reading);
}

/** Why an answer has no series, and what to do. */
export function emptyTextOf({ rows, leftOut, unusable }: QueryReading): string {
  if (rows === 0) {
    return 'it has no rows: check FROM and WHERE ("newrelic-exporter check-config --online" knows which event types there are), or ask for a longer window';
  }
  if (leftOut > 0) return 'one row has more series than max_series: raise it';
  if (!unusable.has('not_a_number')) {
    return 'its values are null: check how the attributes are spelt';
  }
  return 'its values are texts or lists: select what gives a number, such as count(*), or make one with if()';
}

/**
 * Whether New Relic has answered the query at all: with rows, or with what is wrong with it. A failure of
 * NerdGraph itself is one of this query, and has no status of HTTP.
 */
export function isAnswered(error: ApiError | undefined): boolean {
  if (error === undefined) return true;
  const { reason, status } = error;
  const isOfQuery = ['client', 'too_large', 'schema'].includes(reason);
  return isOfQuery || (reason === 'server' && status === undefined);
}

/** The state of a query that was configured just now. */
export function newQueryState(query: Query, phaseIndex: number, nowMs: number): QueryState {
  const base = unpolled(phaseIndex, nowMs);
  return {
    kind: 'query',
    ...base,
    query,
    reading: undefined,
    failedMs: undefined,
    emptyAnswers: 0,
  };
}

/** Monotonic time at which values that are held become too old for that; `undefined` if none are. */
export function queryStaleAtMs({
  reading,
  failedMs = Number.POSITIVE_INFINITY,
  late,
  query,
}: QueryState): number | undefined {
  const sinceMs = failingFrom({ late }, failedMs);
  return reading === undefined || !Number.isFinite(sinceMs)
    ? undefined
    : sinceMs + query.poll.staleAfterMs;
}

export function queryWhenStale(state: QueryState, nowMs: number): QueryState {
  return {
    ...state,
    reading: undefined,
    pollSucceeded: false,
    droppedMs: hasValues(state.reading) ? nowMs : undefined,
  };
}

/** What arrived is published; what failed is held until it has failed for `stale_after`. */
export function afterQueryPoll(
  state: QueryState,
  { reading: arrived, error, unauthorized }: QueryOutcome,
  startMs: number,
  now: Now,
): QueryState {
  const why = error && whyOfError(error, unauthorized);
  const failedMs = error && (state.failedMs ?? failingFrom(state, startMs));
  const ended = afterPollOf(state, why, startMs, now);
  const after = { ...state, ...ended, failedMs, pollSucceeded: !error };
  if (arrived !== undefined) {
    const { emptyAnswers } = state;
    const isEmpty = arrived.series.length === 0 && emptyAnswers !== undefined;
    return {
      ...after,
      reading: arrived,
      lastSuccessMs: now.wallMs,
      droppedMs: undefined,
      emptyAnswers: isEmpty ? emptyAnswers + 1 : undefined,
    };
  }
  const staleAtMs = queryStaleAtMs(after) ?? Number.POSITIVE_INFINITY;
  return now.monotonicMs < staleAtMs ? after : queryWhenStale(after, now.monotonicMs);
}

/** Whether the rows of one are those of the other: not another help text, label or interval. */
export function asksSame(left: Query, right: Query | undefined): boolean {
  return right !== undefined && isDeepStrictEqual(questionOf(left), questionOf(right));
}

function questionOf({ nrql, gauges, facets, maxSeries, poll }: Query): readonly unknown[] {
  return [nrql, gauges, facets, maxSeries, poll.window, poll.delayMs];
}
