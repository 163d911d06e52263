import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { AppReading, Throughput } from '../../src/model/snapshot.ts';
import {
  type AppState,
  afterDiscovery,
  afterPoll,
  newAppState,
  refreshed,
} from '../../src/poller/app-state.ts';
import { staleAtMs, whenStale } from '../../src/poller/schedule.ts';
import { anEntry, aSelected } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';

function aReading(...hostIds: readonly string[]): AppReading {
  const hosts = hostIds.map((id): [string, Throughput] => [id, webOf(1)]);
  return { windowEndMs: 0, application: webOf(1), hosts: new Map(hosts) };
}

function aState(overrides: Partial<AppState> = {}): AppState {
  return { ...newAppState(aSelected({ hostIds: ['1', '2'] }), 0, 0), ...overrides };
}

function anOutcome(overrides: Partial<PollOutcome> = {}): PollOutcome {
  return {
    reading: aReading('1', '2'),
    error: undefined,
    failed: new Set(),
    plannedCalls: 3,
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    hostNameCalls: 0,
    ...overrides,
  };
}

const asked = { hostNames: false, startMs: 0, deadlineMs: 120_000 };
const now = { monotonicMs: 1000, wallMs: 2000 };

describe('afterDiscovery', () => {
  it('keeps the very selection and reading when nothing has changed', () => {
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

  it('keeps all hosts of the reading when the list does not say which there are', () => {
    const known = aState({ reading: aReading('1', '2') });

    const state = afterDiscovery(known, aSelected({ hostIds: undefined }), 5000);

    expect(state.reading?.hosts.size).toBe(2);
  });

  it('drops the hosts of the reading that are no longer listed', () => {
    const known = aState({ reading: aReading('1', '2') });

    const state = afterDiscovery(known, aSelected({ hostIds: ['2', '3'] }), 5000);

    expect([...(state.reading?.hosts.keys() ?? [])]).toEqual(['2']);
  });
});

describe('refreshed', () => {
  it.each([
    { known: ['1', '2'], found: ['2', '3'], hostIds: ['1', '2', '3'] },
    { known: ['1', '2'], found: undefined, hostIds: ['1', '2'] },
    { known: undefined, found: ['2', '3'], hostIds: ['2', '3'] },
    { known: undefined, found: undefined, hostIds: undefined },
  ])('knows the hosts $hostIds after $known and $found', ({ known, found, hostIds }) => {
    const before = aState({ selected: aSelected({ hostIds: known }) });

    const state = refreshed(before, aSelected({ hostIds: found }), 5000);

    expect(state.selected.application.hostIds).toEqual(hostIds);
  });
});

describe('afterPoll', () => {
  it('keeps the very reading when the poll brought no host that is not listed', () => {
    const outcome = anOutcome();

    const state = afterPoll(aState(), outcome, asked, now);

    expect(state.reading).toBe(outcome.reading);
  });

  it.each([
    { failed: [applicationScope], error: new ApiError('server', 'HTTP 500'), reason: 'server' },
    { failed: [applicationScope], error: undefined, reason: undefined },
    { failed: [], error: new ApiError('server', 'HTTP 500'), reason: undefined },
  ])('has failed for $reason after $failed', ({ failed, error, reason }) => {
    const outcome = anOutcome({ failed: new Set(failed), error });

    const state = afterPoll(aState(), outcome, asked, now);

    expect(state.failedFor).toBe(reason);
  });
});

describe('values that could not be renewed', () => {
  const { staleAfterMs } = anEntry().poll;
  const deadlineMs = 120_000;
  const failing = aState({ reading: aReading('1'), failingSinceMs: 1000, nextDueMs: 50_000 });
  const waiting = { ...failing, failingSinceMs: undefined };

  it.each([
    { what: 'after a first failure', state: failing, atMs: 1000 + staleAfterMs },
    {
      what: 'after a poll should have ended that never does',
      state: waiting,
      atMs: 50_000 + deadlineMs + staleAfterMs,
    },
    { what: 'never when there are none', state: { ...failing, reading: undefined } },
  ])('become stale $what', ({ state, atMs }) => {
    expect(staleAtMs(state, deadlineMs)).toBe(atMs);
  });

  it.each([
    { what: 'in time', startMs: 60_000, sinceMs: 60_000 },
    {
      what: 'only after the one that was due should have ended, because others were called off',
      startMs: 400_000,
      sinceMs: 50_000 + deadlineMs,
    },
  ])('are counted from a failure that began $what', ({ startMs, sinceMs }) => {
    const outcome = anOutcome({ reading: undefined, failed: new Set([applicationScope]) });

    const state = afterPoll(waiting, outcome, { ...asked, startMs, deadlineMs }, now);

    expect(state.failingSinceMs).toBe(sinceMs);
  });

  it('are no success any more when they are dropped without a failure', () => {
    const known = { ...waiting, pollSucceeded: true };

    const state = whenStale(known, deadlineMs, 50_000 + deadlineMs + staleAfterMs);

    expect(state).toMatchObject({ reading: undefined, pollSucceeded: false });
  });

  it.each([
    { nowMs: 999 + staleAfterMs, held: true },
    { nowMs: 1000 + staleAfterMs, held: false },
  ])('are held at $nowMs ms: $held', ({ nowMs, held }) => {
    expect(whenStale(failing, deadlineMs, nowMs).reading !== undefined).toBe(held);
  });
});
