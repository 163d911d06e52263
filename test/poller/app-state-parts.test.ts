import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Values } from '../../src/model/polled-series.ts';
import { type AppState, afterPoll, newAppState } from '../../src/poller/app-state.ts';
import { aSelected, throughputSeries } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';

const minuteMs = 60_000;
const hostIds = 'ABCDEFGHIJ'.split('');
const selected = aSelected({ hostIds });
const { staleAfterMs } = selected.entry.poll;
const staleMinutes = staleAfterMs / minuteMs;

/** The poll of this minute: every value is its number, and its window ends there. */
function pollOf(minute: number, failed: readonly string[]): PollOutcome {
  const arrived = hostIds.filter((id) => !failed.includes(id));
  const hasApplication = !failed.includes(applicationScope);
  return {
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
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    extraCalls: 0,
  };
}

/** The states after one poll a minute, the first in minute 1; each takes a second. */
function statesAfter(...polls: readonly (readonly string[])[]): readonly AppState[] {
  const states: AppState[] = [];
  let state = newAppState(selected, 0, 0);
  for (const [index, failed] of polls.entries()) {
    const startMs = (index + 1) * minuteMs;
    const now = { monotonicMs: startMs + 1000, wallMs: startMs + 1000 };
    const asked = { hostNames: false, startMs };
    state = afterPoll(state, pollOf(index + 1, failed), asked, now);
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

/** All parts in one minute, but for these. */
function all(
  minute: number,
  others: Readonly<Record<string, number | undefined>> = {},
): Readonly<Record<string, number | undefined>> {
  const parts = ['application', ...hostIds].map((part) => [part, minute] as const);
  const shown = { ...Object.fromEntries(parts), ...others };
  return Object.fromEntries(
    Object.entries(shown).filter(([, shownMinute]) => shownMinute !== undefined),
  );
}

describe('a host that fails for good', () => {
  it('leaves the application and the other hosts fresh in every poll', () => {
    const states = statesAfter([], ...failing(2 * staleMinutes, 'C'));

    const others = states.map((state) => ({ ...shownIn(state), C: undefined }));
    expect(others).toEqual(states.map((_, index) => ({ ...all(index + 1), C: undefined })));
  });

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

  it('is not there after a first poll, and what arrived is', () => {
    const [first] = statesAfter(['C', 'D', 'E']);

    expect(first && shownIn(first)).toEqual(all(1, { C: undefined, D: undefined, E: undefined }));
    expect(first).toMatchObject({ pollSucceeded: false, lastSuccessMs: undefined });
  });
});

describe('parts that fail', () => {
  it.each([
    { what: 'one of eleven', failed: ['C'] },
    { what: 'two', failed: ['C', 'D'] },
    { what: 'half of them', failed: ['A', 'B', 'C', 'D', 'E', 'F'] },
    { what: 'all hosts but one', failed: hostIds.slice(1) },
    { what: 'all hosts', failed: hostIds },
    { what: 'the application itself', failed: [applicationScope] },
    {
      what: 'the application and half of the hosts',
      failed: [applicationScope, ...hostIds.slice(0, 5)],
    },
  ])('are held, and the others are published at once: $what', ({ failed }) => {
    const states = statesAfter([], failed, failed);

    const held = Object.fromEntries(
      failed.map((scope) => [scope === applicationScope ? 'application' : scope, 1]),
    );
    expect(states.map(shownIn)).toEqual([all(1), all(2, held), all(3, held)]);
    expect(states.map(({ pollSucceeded }) => pollSucceeded)).toEqual([true, false, false]);
  });

  it('are all held, then all dropped, when nothing arrives any more', () => {
    const states = statesAfter([], ...failing(staleMinutes - 1, applicationScope, ...hostIds));

    const last = states.at(-1);
    expect(last && shownIn(last)).toEqual(all(1));
  });
});
