import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Values } from '../../src/model/polled-series.ts';
import type { AppReading } from '../../src/model/snapshot.ts';
import {
  type AppState,
  afterDiscovery,
  afterPoll,
  newAppState,
  partsOf,
  refreshed,
} from '../../src/poll/app-state.ts';
import { staleAtMs, withoutStaleValues } from '../../src/poll/states.ts';
import { anEntry, aSelected, throughputSeries } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { wholeOutcome } from '../support/table-bench.ts';

const hostIds = Array.from({ length: 19 }, (_, index) => `${index + 1}`);
const now = { monotonicMs: 1000, wallMs: 2000 };
const { staleAfterMs } = aSelected().entry.poll;
const startMs = 400;

/** A poll of one application with 19 hosts, 20 calls, in which these scopes failed. */
function aPoll(requestsPerMinute: number, ...failed: string[]): PollOutcome {
  const arrived = hostIds.filter((id) => !failed.includes(id));
  const isLost = failed.includes(applicationScope) && arrived.length === 0;
  return {
    ...wholeOutcome(),
    reading: isLost
      ? undefined
      : {
          windowEndMs: requestsPerMinute,
          series: throughputSeries,
          application: failed.includes(applicationScope) ? [] : webOf(requestsPerMinute),
          hosts: new Map(arrived.map((id): [string, Values] => [id, webOf(requestsPerMinute)])),
        },
    error: failed.length === 0 ? undefined : new ApiError('server', 'HTTP 500'),
    failed: new Set(failed),
    partCount: 20,
  };
}

/** The state after these polls, one after the other. */
function after(...polls: PollOutcome[]): AppState {
  const first = newAppState(aSelected({ hostIds }), 0, 0);
  return polls.reduce((state, poll) => afterPoll(state, poll, startMs, now), first);
}

const everything = [applicationScope, ...hostIds];

function aReading(...ids: readonly string[]): AppReading {
  const hosts = ids.map((id): [string, Values] => [id, webOf(1)]);
  return { windowEndMs: 0, series: throughputSeries, application: webOf(1), hosts: new Map(hosts) };
}

function aState(overrides: Partial<AppState> = {}): AppState {
  const state = newAppState(aSelected({ hostIds: ['1', '2'] }), 0, 0);
  return { ...state, ...partsOf(overrides.reading), ...overrides };
}

function anOutcome(overrides: Partial<PollOutcome> = {}): PollOutcome {
  return { ...wholeOutcome(), reading: aReading('1', '2'), partCount: 3, ...overrides };
}

describe('afterPoll', () => {
  it('takes in host names that came with the values', () => {
    const hostNames = new Map([['web-1', 'web-1']]);
    const named = aSelected({ hostIds: undefined }, { poll: { hostNames: true } });
    const first = newAppState(named, 0, 0);

    const { hostNames: known } = afterPoll(first, { ...aPoll(1), hosts: hostNames }, startMs, now);

    expect(known).toEqual(hostNames);
  });

  it.each([
    { what: 'of which parts arrived', poll: aPoll(1, '1'), hosts: 18 },
    { what: 'of which nothing arrived', poll: aPoll(1, ...everything), hosts: undefined },
  ])('shows what arrived of a first poll whose key was refused, $what', ({ poll, hosts }) => {
    const state = after({ ...poll, unauthorized: true });

    expect(state.reading?.hosts.size).toBe(hosts);
    expect(state.pollSucceeded).toBe(false);
  });

  it('leaves out hosts that a discovery dropped during the poll', () => {
    const before = newAppState(aSelected({ hostIds }), 0, 0);
    const shrunk = afterDiscovery(before, aSelected({ hostIds: ['1', '2'] }), 0);

    const state = afterPoll(shrunk, aPoll(1), startMs, now);

    expect([...(state.reading?.hosts.keys() ?? [])]).toEqual(['1', '2']);
  });

  it('shows what the entry reads now of a poll that began for another one', () => {
    const entry = anEntry({ poll: { metrics: ['memory', 'throughput'] } });
    const before = aState();

    const state = afterPoll(
      { ...before, selected: { ...before.selected, entry } },
      anOutcome(),
      startMs,
      now,
    );

    expect(state.reading).toMatchObject({
      series: entry.series,
      application: [1, undefined, undefined],
    });
  });

  it.each([
    { failed: [applicationScope], error: new ApiError('server', 'HTTP 500'), reason: 'server' },
    { failed: [applicationScope], error: undefined, reason: 'client' },
    { failed: [], error: new ApiError('server', 'HTTP 500'), reason: undefined },
  ])('has failed for $reason after $failed', ({ failed, error, reason }) => {
    const outcome = anOutcome({ failed: new Set(failed), error });

    const state = afterPoll(aState(), outcome, startMs, now);

    expect(state.failure?.reason).toBe(reason);
  });
});

describe('afterDiscovery', () => {
  it('keeps the same selection and reading objects when nothing has changed', () => {
    const known = aState({ reading: aReading('1', '2') });
    const { entry } = known.selected;

    const state = afterDiscovery(known, { ...aSelected({ hostIds: ['1', '2'] }), entry }, 5000);

    expect(state.selected).toBe(known.selected);
    expect(state.reading).toBe(known.reading);
    expect(state.discoveredMs).toBe(5000);
  });

  it('takes over another entry of the same application', () => {
    const known = aState();
    const entry = anEntry({ labels: { team: 'shop' } });

    const state = afterDiscovery(known, { ...known.selected, entry }, 5000);

    expect(state.selected.entry).toBe(entry);
  });

  it.each([
    { what: 'afterDiscovery', apply: afterDiscovery },
    { what: 'refreshed', apply: refreshed },
  ])('shows no value that another entry does not read: $what', ({ apply }) => {
    const known = aState({ reading: aReading('1') });
    const entry = anEntry({ poll: { metrics: ['memory', 'throughput'] } });

    const state = apply(known, { ...known.selected, entry }, 5000);

    const values = [1, undefined, undefined];
    expect(state.reading).toMatchObject({ series: entry.series, application: values });
    expect(state.reading?.hosts.get('1')).toEqual(values);
  });

  it('drops the hosts of the reading that are no longer listed', () => {
    const known = aState({ reading: aReading('1', '2') });

    const state = afterDiscovery(known, aSelected({ hostIds: ['2', '3'] }), 5000);

    expect([...(state.reading?.hosts.keys() ?? [])]).toEqual(['2']);
  });
});

describe('refreshed', () => {
  it.each([
    { known: ['1', '2'], found: ['2', '3'], listed: ['1', '2', '3'] },
    { known: ['1', '2'], found: undefined, listed: ['1', '2'] },
    { known: undefined, found: ['2', '3'], listed: ['2', '3'] },
    { known: undefined, found: undefined, listed: undefined },
  ])('knows the hosts $listed after $known and $found', ({ known, found, listed }) => {
    const before = aState({ selected: aSelected({ hostIds: known }) });

    const state = refreshed(before, aSelected({ hostIds: found }), 5000);

    expect(state.selected.application.hostIds).toEqual(listed);
  });
});

describe('values that could not be renewed', () => {
  const shown = aState({ reading: aReading('1', '2') });
  const late = { ...shown, lateSinceMs: 1000 };
  const failed = anOutcome({ reading: undefined, failed: new Set([applicationScope, '1', '2']) });
  const failing = afterPoll(shown, failed, 2000, now);

  it.each([
    { what: 'after a first failure', state: failing, atMs: 2000 + staleAfterMs },
    { what: 'when a poll is late', state: late, atMs: 1000 + staleAfterMs },
    { what: 'never while polls succeed', state: shown, atMs: Infinity },
    { what: 'never when there are none', state: { ...late, reading: undefined }, atMs: Infinity },
  ])('become stale $what', ({ state, atMs }) => {
    expect(staleAtMs(state)).toBe(atMs);
  });

  it('are dropped all together when a poll has been late for stale_after', () => {
    const state = withoutStaleValues(late, 1000 + staleAfterMs);

    expect(state).toMatchObject({ reading: undefined, pollSucceeded: false });
    expect(state.droppedMs).toBe(1000 + staleAfterMs);
  });

  it('leave nothing behind where only hosts are shown', () => {
    const hostsOnly = aState({
      selected: aSelected({ hostIds: ['1', '2'] }, { application: false }),
      reading: { ...aReading('1', '2'), application: [] },
    });
    const outcome = anOutcome({ reading: undefined, failed: new Set(['1', '2']) });
    const before = afterPoll(hostsOnly, outcome, 2000, now);

    const state = withoutStaleValues(before, 2000 + staleAfterMs);

    expect(state.reading).toBeUndefined();
    expect(state.droppedMs).toBe(2000 + staleAfterMs);
  });

  it('are dropped host by host, and the window is then that of what is left', () => {
    const one = { ...anOutcome({ reading: aReading('2'), failed: new Set(['1']) }) };
    const partly = afterPoll(shown, one, 2000, now);

    const state = withoutStaleValues(partly, 2000 + staleAfterMs);

    expect([...(partly.reading?.hosts.keys() ?? [])].toSorted()).toEqual(['1', '2']);
    expect([...(state.reading?.hosts.keys() ?? [])]).toEqual(['2']);
    expect(state.droppedMs).toBeUndefined();
    expect(staleAtMs(state)).toBe(Infinity);
  });
});
