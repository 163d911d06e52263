import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Values } from '../../src/model/polled-series.ts';
import { minuteMs } from '../../src/model/time.ts';
import { type AppState, afterDiscovery, afterPoll, newAppState } from '../../src/poll/app-state.ts';
import { withoutStaleValues } from '../../src/poll/states.ts';
import { aSelected, throughputSeries } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { wholeOutcome } from '../support/table-bench.ts';

const hostIds = 'ABCDEFGHIJ'.split('');
const selected = aSelected({ hostIds });
const { staleAfterMs } = selected.entry.poll;
const staleMinutes = staleAfterMs / minuteMs;

/** The poll of this minute: every value is its number, and its window ends there. */
function pollOf(minute: number, failed: readonly string[]): PollOutcome {
  const arrived = hostIds.filter((id) => !failed.includes(id));
  const hasApplication = !failed.includes(applicationScope);
  return {
    ...wholeOutcome(),
    reading:
      !hasApplication && arrived.length === 0
        ? undefined
        : {
            windowEndMs: minute * minuteMs,
            series: throughputSeries,
            application: hasApplication ? webOf(minute) : [],
            hosts: new Map(arrived.map((id): [string, Values] => [id, webOf(minute)])),
          },
    error: failed.length === 0 ? undefined : new ApiError('server', 'HTTP 500'),
    failed: new Set(failed),
    partCount: 1 + hostIds.length,
  };
}

/** The states after one poll a minute, the first in minute 1; each takes a second. */
function statesAfter(...polls: readonly (readonly string[])[]): readonly AppState[] {
  const states: AppState[] = [];
  let state = newAppState(selected, 0, 0);
  for (const [index, failed] of polls.entries()) {
    const startMs = (index + 1) * minuteMs;
    const now = { monotonicMs: startMs + 1000, wallMs: startMs + 1000 };
    const polled = afterPoll(state, pollOf(index + 1, failed), startMs, now);
    state = withoutStaleValues(polled, now.monotonicMs);
    states.push(state);
  }
  return states;
}

/** Polls in each of which the same parts fail. */
function failing(times: number, ...failed: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: times }, () => failed);
}

/** The minute of each part that is shown. */
function shownIn({ reading }: AppState): Readonly<Record<string, number | undefined>> {
  const hosts = [...(reading?.hosts ?? [])].map(([id, [value]]): [string, number | undefined] => [
    id,
    value,
  ]);
  const [own] = reading?.application ?? [];
  return Object.fromEntries([
    ...(own === undefined ? [] : [['application', own] as const]),
    ...hosts,
  ]);
}

describe('a host that fails for good', () => {
  it('is held, without success, until it has failed for stale_after since its first failure', () => {
    const [, ...states] = statesAfter([], ...failing(2 * staleMinutes, 'C'));

    const held = states.map((state) => shownIn(state)['C']);
    expect(held.filter((minute) => minute !== undefined)).toEqual(
      Array.from({ length: staleMinutes }, () => 1),
    );
    expect(held.slice(staleMinutes)).toEqual(Array.from({ length: staleMinutes }, () => undefined));
    expect(new Set(states.map(({ pollSucceeded }) => pollSucceeded))).toEqual(new Set([false]));
  });

  it('makes the window of the application the oldest one that is shown', () => {
    const [, ...states] = statesAfter([], ...failing(staleMinutes + 2, 'C'));

    const minutes = states.map(({ reading }) => (reading?.windowEndMs ?? 0) / minuteMs);
    expect(minutes).toEqual([
      ...Array.from({ length: staleMinutes }, () => 1),
      staleMinutes + 2,
      staleMinutes + 3,
    ]);
  });
});

describe('hosts alone, of which a discovery has replaced all', () => {
  it('leave nothing behind while the new ones fail', () => {
    const ofHosts = aSelected({ hostIds: ['A'] }, { application: false });
    const startMs = minuteMs;
    const nowAt = (minute: number) => ({ monotonicMs: minute * minuteMs, wallMs: 0 });
    const everything = [...hostIds, applicationScope];
    const brought = pollOf(
      1,
      everything.filter((id) => id !== 'A'),
    );
    const shown = afterPoll(
      newAppState(ofHosts, 0, 0),
      { ...brought, failed: new Set() },
      startMs,
      nowAt(1),
    );
    const held = afterPoll(
      shown,
      { ...pollOf(2, everything), failed: new Set(['A']) },
      startMs,
      nowAt(2),
    );
    const replaced = afterDiscovery(held, aSelected({ hostIds: ['B'] }, { application: false }), 0);

    const after = afterPoll(
      replaced,
      { ...pollOf(3, everything), failed: new Set(['B']) },
      startMs,
      nowAt(3),
    );

    expect([shown, held].map(({ reading }) => [...(reading?.hosts.keys() ?? [])])).toEqual([
      ['A'],
      ['A'],
    ]);
    const left = [replaced, after].map(({ reading }) => [
      [...(reading?.application ?? []), ...(reading?.hosts.values() ?? [])],
      reading?.windowEndMs,
    ]);
    expect(left).toEqual([
      [[], undefined],
      [[], undefined],
    ]);
  });
});

describe('the values of very many hosts', () => {
  it('are held together when all of them fail', () => {
    const ids = Array.from({ length: 150_000 }, (_, index) => String(index + 1));
    const startMs = 0;
    const first = newAppState(aSelected({ hostIds: ids }), 0, 0);
    const error = new ApiError('timeout', 'no answer');
    const failed = new Set([applicationScope, ...ids]);
    const outcomes = [
      wholeOutcome(ids),
      { ...wholeOutcome(), reading: undefined, error, failed },
    ] satisfies PollOutcome[];

    const now = { wallMs: 1000, monotonicMs: 1000 };
    const after = outcomes.reduce(
      (state, outcome) => afterPoll(state, outcome, startMs, now),
      first,
    );

    expect(after.reading?.hosts.size).toBe(150_000);
  });
});
