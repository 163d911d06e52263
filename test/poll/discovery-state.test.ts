import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Discovery } from '../../src/model/source.ts';
import {
  type DiscoveryState,
  discoveryAfter,
  discoveryOptionsOf,
  initialDiscovery,
  isDiscoveryStale,
  isUnauthorized,
} from '../../src/poll/discovery-state.ts';
import { anApplication, anEntry, aSelected } from '../support/builders.ts';
import { found } from '../support/table-bench.ts';

const unreachable = new ApiError('connect', 'no connection');
const refused = new ApiError('auth', 'HTTP 401', { status: 401 });
const whole = found();
const lost: Discovery = { ...whole, complete: false, error: unreachable };

const now = { monotonicMs: 0, wallMs: 0 };

function after(before: DiscoveryState, discovery: Discovery, nowMs = 5000): DiscoveryState {
  const told = { missing: undefined, excluded: 0 };
  return discoveryAfter(before, discovery, told, { monotonicMs: nowMs, wallMs: nowMs });
}

describe('discoveryAfter', () => {
  it.each([
    { what: 'a complete list', discovery: whole, answered: true },
    {
      what: 'a part of a list',
      discovery: { ...lost, applications: [anApplication()] },
      answered: true,
    },
    { what: 'an HTTP error', discovery: { ...lost, error: refused }, answered: true },
    { what: 'no answer', discovery: lost, answered: false },
  ])('says whether the vendor ever answered after $what', ({ discovery, answered }) => {
    const state = after(initialDiscovery, discovery);

    expect(state.answered).toBe(answered);
    expect(after(state, lost).answered).toBe(answered);
  });

  it('counts failures from the first one since the last complete list', () => {
    const first = after(initialDiscovery, lost, 1000);
    const second = after(first, lost, 2000);
    const recovered = after(second, whole, 3000);
    const again = after(recovered, lost, 4000);

    expect([first, second, recovered, again].map(({ failingSinceMs }) => failingSinceMs)).toEqual([
      1000,
      1000,
      undefined,
      4000,
    ]);
    expect([first, second, recovered].map(({ up, error }) => ({ up, error }))).toEqual([
      { up: false, error: unreachable },
      { up: false, error: unreachable },
      { up: true, error: undefined },
    ]);
  });

  it('keeps the entries that choose nothing, and how many are excluded, until another discovery can tell', () => {
    const missing = [anEntry()];
    const told = discoveryAfter(initialDiscovery, whole, { missing, excluded: 2 }, now);

    expect(after(told, lost)).toMatchObject({
      missingSelectors: told.missingSelectors,
      excluded: 2,
    });
    expect(discoveryAfter(told, whole, { missing: [], excluded: 0 }, now)).toMatchObject({
      missingSelectors: [],
      excluded: 0,
    });
  });
});

describe('isDiscoveryStale', () => {
  const { staleAfterMs } = anEntry().poll;

  it.each([
    { failingSinceMs: undefined, discoveredMs: 0, nowMs: 10 * staleAfterMs, stale: false },
    { failingSinceMs: 1000, discoveredMs: 0, nowMs: 999 + staleAfterMs, stale: false },
    { failingSinceMs: 1000, discoveredMs: 0, nowMs: 1000 + staleAfterMs, stale: true },
    { failingSinceMs: 1000, discoveredMs: 5000, nowMs: 1000 + staleAfterMs, stale: false },
    { failingSinceMs: 1000, discoveredMs: 5000, nowMs: 5000 + staleAfterMs, stale: true },
  ])(
    'is $stale at $nowMs ms, failing since $failingSinceMs, seen at $discoveredMs',
    ({ failingSinceMs, discoveredMs, nowMs, stale }) => {
      const discovery = { ...initialDiscovery, failingSinceMs };

      expect(isDiscoveryStale(discovery, { selected: aSelected(), discoveredMs }, nowMs)).toBe(
        stale,
      );
    },
  );
});

describe('isUnauthorized', () => {
  it.each([
    { what: 'a refused key', error: refused, unauthorized: true },
    { what: 'another failure', error: unreachable, unauthorized: false },
    {
      what: 'an error that is not an ApiError',
      error: Object.assign(new Error('not ours'), { reason: 'auth' }),
      unauthorized: false,
    },
    { what: 'no error', error: undefined, unauthorized: false },
  ])('is $unauthorized for $what', ({ error, unauthorized }) => {
    expect(isUnauthorized(error)).toBe(unauthorized);
  });
});

describe('discoveryOptionsOf', () => {
  it('discovers at the shortest interval of the entries that do not only exclude', () => {
    const entries = [300_000, 60_000, 90_000].map((discoveryIntervalMs) =>
      anEntry({ poll: { discoveryIntervalMs }, exclude: discoveryIntervalMs === 60_000 }),
    );

    expect(discoveryOptionsOf(entries).intervalMs).toBe(90_000);
  });
});
