import type { Now } from '../model/clock.ts';
import type { Query } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import type { QueryReading } from '../model/snapshot.ts';
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
  /** Answers without any series since the start; `undefined` once there was one. */
  readonly emptyAnswers: number | undefined;
}

/** Why a query has never had a value, and what to do; `undefined` if it has, or too little is known. */
export function missingTextOf({ emptyAnswers = 0, reading }: QueryState): string | undefined {
  return emptyAnswers < 2 || reading === undefined ? undefined : emptyTextOf(reading);
}

/** Why an answer has no value, and what to do; `undefined` if it has one. */
export function emptyTextOf({ series, rows, leftOut, unusable }: QueryReading): string | undefined {
  if (series.length > 0) return undefined;
  if (rows === 0) {
    return 'it has no rows: check FROM and WHERE ("newrelic-exporter check-config --online" knows which event types there are), or ask for a longer window';
  }
  if (leftOut > 0) return 'one row has more series than max_series: raise it';
  if (!unusable.has('not_a_number')) {
    return 'its values are null: check how the attributes are spelt';
  }
  return 'its values are texts or lists: select what gives a number, such as count(*), or make one with if()';
}

/** The state of a query that was configured just now. */
export function newQueryState(query: Query, phase: number, nowMs: number): QueryState {
  const base = unpolled(phase, nowMs);
  return { kind: 'query', ...base, query, reading: undefined, emptyAnswers: 0 };
}

/** What arrived is published; what failed is held, until `States` finds that it is stale. */
export function afterQueryPoll(
  state: QueryState,
  { reading, error, unauthorized }: QueryOutcome,
  startMs: number,
  now: Now,
): QueryState {
  const why = error && whyOfError(error, unauthorized);
  const { heldSinceMs = failingFrom(state, startMs), emptyAnswers } = state;
  if (reading === undefined) {
    return { ...state, heldSinceMs, ...afterPollOf(state, why, startMs, now) };
  }
  const isEmpty = emptyTextOf(reading) !== undefined && emptyAnswers !== undefined;
  return {
    ...state,
    reading,
    heldSinceMs: undefined,
    emptyAnswers: isEmpty ? emptyAnswers + 1 : undefined,
    ...afterPollOf(state, why, startMs, now),
  };
}
