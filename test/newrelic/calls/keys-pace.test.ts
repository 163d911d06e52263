import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/model/time.ts';
import type { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import type { Key } from '../../../src/newrelic/calls/keys.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { eachAfter } from '../../support/slow.ts';
import {
  accountCalls,
  aLimitExceeded,
  aThrottled,
  type OneCall,
  permitsOf,
  runJob,
} from './call-fakes.ts';
import { neverAborted } from './fakes.ts';

interface Run {
  readonly clock: FakeClock;
  readonly calls: AccountCalls;
  readonly sentAtMs: number[];
  /** Adds a poll of so many calls. */
  readonly poll: (size: number) => void;
}

/** An account that notes when each call of its polls is sent; each takes this long. */
function aRun(requestsPerMinute: number, latencyMs: (call: number) => number = () => 0): Run {
  const clock = createFakeClock();
  const calls = accountCalls(clock, { requestsPerMinute, concurrency: 1000 });
  const sentAtMs: number[] = [];
  const call: OneCall = async () => {
    sentAtMs.push(clock.monotonicMs());
    const tookMs = latencyMs(sentAtMs.length);
    if (tookMs > 0) await new Promise<void>((resolve) => void clock.after(tookMs, resolve));
    return true;
  };
  const poll = (size: number): void => void runJob(calls, { key: 'a', size }, call);
  return { clock, calls, sentAtMs, poll };
}

/** The most entries of a sorted list that any closed window of this length holds. */
function mostInAnyWindow(timesMs: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [index, timeMs] of timesMs.entries()) {
    while (timeMs - (timesMs[first] ?? 0) > windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

describe('the pace of a key', () => {
  it('holds all calls back until the longest pause is over, even if a place is given back unused', async () => {
    const { clock, calls, sentAtMs, poll } = aRun(2);
    const unused = await calls.take(undefined, neverAborted);
    clock.after(1000, () => unused.release('unsent'));

    calls.key.throttled(aThrottled(10_000));
    calls.key.throttled(aThrottled(5000));
    await clock.advance(2000);
    poll(1);
    await clock.advance(20_000);

    expect(sentAtMs).toEqual([10_000]);
  });

  it('is even after a pause, until some budget is left unused again', async () => {
    const { clock, calls, sentAtMs, poll } = aRun(600);

    calls.key.throttled(aThrottled(10_000));
    poll(100);
    await clock.advance(70_000);
    const heldUp = sentAtMs.splice(0);
    poll(100);
    await clock.advance(1000);

    expect(heldUp).toHaveLength(100);
    expect(heldUp[0]).toBe(10_000);
    expect(mostInAnyWindow(heldUp, 1000)).toBe(11);
    expect(mostInAnyWindow(sentAtMs, 100)).toBe(100);
  });

  eachAfter(1, [
    { requestsPerMinute: 5, most: 3 },
    // As much as that of sixteen seconds: ten may be made up for.
    { requestsPerMinute: 60, most: 17 },
    { requestsPerMinute: 600, most: 161 },
  ])(
    'of $requestsPerMinute calls a minute is even when there is always something to send: no more than $most in six seconds',
    async ({ requestsPerMinute, most }) => {
      const { clock, sentAtMs, poll } = aRun(requestsPerMinute, () => 200);

      poll(20 * requestsPerMinute);
      await clock.advance(15 * minuteMs);

      const settled = sentAtMs.filter((atMs) => atMs > 3 * minuteMs);
      expect(mostInAnyWindow(settled, 6000)).toBeLessThanOrEqual(most);
    },
  );

  it.each([
    { requestsPerMinute: 5, minutes: 20 },
    { requestsPerMinute: 11, minutes: 20 },
    { requestsPerMinute: 40, minutes: 20 },
    { requestsPerMinute: 990, minutes: 3 },
  ])(
    'uses at least 98.5 % of $requestsPerMinute calls a minute when there is always something to send, and lists go in between',
    async ({ requestsPerMinute, minutes }) => {
      const latencyMs = (call: number): number => 80 + ((call * 97) % 320);
      const { clock, calls, sentAtMs, poll } = aRun(requestsPerMinute, latencyMs);
      const list = async (): Promise<void> => {
        const { release } = await calls.take(undefined, neverAborted);
        sentAtMs.push(clock.monotonicMs());
        clock.after(300, () => release('answered'));
      };

      poll((minutes + 2) * requestsPerMinute);
      for (let minute = 0; minute < minutes; minute += 1) {
        await clock.advance(minuteMs);
        void list();
      }

      expect(sentAtMs.length).toBeGreaterThanOrEqual(minutes * requestsPerMinute * 0.985);
      expect(mostInAnyWindow(sentAtMs, minuteMs)).toBe(requestsPerMinute);
    },
  );

  it.each([
    { from: 600, to: 60, least: 0, most: 60 },
    { from: 60, to: 600, least: 500, most: 660 },
  ])('is that of another limit from the moment it is set: $to instead of $from', async (row) => {
    const { clock, calls, sentAtMs, poll } = aRun(row.from);
    poll(3000);
    await clock.advance(2 * minuteMs);
    const before = sentAtMs.length;

    calls.resize({ requestsPerMinute: row.to, concurrency: 1000 });
    await clock.advance(minuteMs);

    expect(sentAtMs.length - before).toBeGreaterThanOrEqual(row.least);
    expect(sentAtMs.length - before).toBeLessThanOrEqual(row.most);
  });
});

describe('the limit after a 429 that names it', () => {
  /** A key without calls, at a time that is set. */
  function aTimedKey(requestsPerMinute: number): { key: Key; goTo: (ms: number) => void } {
    let nowMs = 0;
    const clock = { ...createFakeClock(), monotonicMs: () => nowMs };
    const goTo = (ms: number): void => {
      nowMs = ms;
    };
    return { key: accountCalls(clock, { requestsPerMinute }).key, goTo };
  }

  const manyMs = Array.from({ length: 30 }, (_, index) => index * 10_000);
  it.each<[string, readonly number[], readonly number[], full?: number]>([
    ['halved, and full after five equal steps', [0], [400, 480, 560, 640, 720, 800]],
    ['halved again meanwhile', [0, 2 * minuteMs], [280, 384, 488, 592, 696, 800]],
    ['never less than a tenth', manyMs, [80, 224, 368, 512, 656, 800]],
    ['full before the first one', [], [800, 800, 800, 800, 800, 800]],
    ['at least one call', [0], [1, 1, 1, 1, 1, 1], 1],
  ])('is %s', (_, atMs, limits, full = 800) => {
    const { key, goTo } = aTimedKey(full);
    for (const nowMs of atMs) {
      goTo(nowMs);
      key.throttled(aLimitExceeded(nowMs, { sentMs: nowMs - 200 }));
    }
    const lastMs = atMs.at(-1) ?? 0;
    const seen = [0, 1, 2, 3, 4, 5].map((minute) => {
      goTo(lastMs + minute * minuteMs);
      return key.limitPerMinute();
    });

    expect(seen).toEqual(limits);
    expect(key.isReduced()).toBe(false);
  });

  it('is halved once for all calls that were sent before the pause ended', () => {
    const { key, goTo } = aTimedKey(800);
    const refused = (nowMs: number, sentMs: number, untilMs: number): number => {
      goTo(nowMs);
      key.throttled(aLimitExceeded(untilMs, { sentMs }));
      return key.limitPerMinute();
    };

    expect([
      refused(200, 0, 20_000),
      refused(300, 100, 30_000),
      refused(30_100, 29_999, 25_000),
      refused(30_200, 30_000, 31_000),
    ]).toEqual([400, 400, 400, 200]);
  });

  it('follows another full limit at once', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock);
    calls.key.throttled(aLimitExceeded(1000));
    calls.resize({ requestsPerMinute: 100, concurrency: 8 });
    const limits: number[] = [];
    for (const waitMs of [0, minuteMs, 4 * minuteMs]) {
      await clock.advance(waitMs);
      limits.push(calls.limitPerMinute());
    }

    expect(limits).toEqual([50, 60, 100]);
  });

  it('lets a call go when it has risen, though nothing ends', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 10, concurrency: 10 });
    await permitsOf(calls, 9);
    calls.key.throttled(aLimitExceeded(1000));

    const waiting = await permitsOf(calls, 1);
    await clock.advance(5 * minuteMs - 1);
    const before = waiting.length;
    await clock.advance(1);

    expect([before, waiting.length]).toEqual([0, 1]);
  });

  it('is between a tenth and the full one, only rises, and is full after five minutes', () => {
    const gaps = fc.array(fc.nat(3 * minuteMs), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), gaps, (full, gapsMs) => {
        const { key, goTo } = aTimedKey(full);
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          goTo(nowMs);
          key.throttled(aLimitExceeded(nowMs + 1000, { sentMs: nowMs }));
          expect(key.limitPerMinute()).toBeGreaterThanOrEqual(Math.max(1, Math.floor(full / 10)));
        }

        const later = Array.from({ length: 61 }, (_, step) => {
          goTo(nowMs + (step * 5 * minuteMs) / 60);
          return key.limitPerMinute();
        });
        expect(later).toEqual(later.toSorted((a, b) => a - b));
        expect(Math.max(...later)).toBe(full);
        expect(later.at(-1)).toBe(full);
      }),
    );
  });
});
