import { describe, expect, it } from 'vitest';
import type { RateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { aCaller, aLimitExceeded, aLimiter, aThrottled, type Caller, throttle } from './fakes.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly limiter: RateLimiter;
  readonly caller: Caller;
  /** When each call went, such as `first 0`. */
  readonly gone: readonly string[];
  /** Makes a call that ends at once. */
  readonly call: (name: string) => Promise<void>;
}

function aBench(requestsPerMinute: number, clock = createFakeClock()): Bench {
  const limiter = aLimiter(clock, requestsPerMinute);
  const caller = aCaller(limiter);
  const gone: string[] = [];
  const call = async (name: string): Promise<void> => {
    const permit = await caller.acquire();
    gone.push(`${name} ${clock.monotonicMs()}`);
    permit.release(true);
  };
  return { clock, limiter, caller, gone, call };
}

/** How many calls may go by each of these times, if they never end and there are always some waiting. */
async function goneAt(bench: Bench, timesMs: readonly number[]): Promise<readonly number[]> {
  const { clock, caller } = bench;
  let gone = 0;
  const hang = async (): Promise<void> => {
    await caller.acquire();
    gone += 1;
  };
  for (let call = 0; call < 200; call += 1) void hang();
  const counts: number[] = [];
  for (const atMs of timesMs) {
    await clock.advance(atMs - clock.monotonicMs());
    counts.push(gone);
    gone = 0;
  }
  return counts;
}

async function refuse({ caller }: Bench, answer: Parameters<typeof aThrottled>): Promise<void> {
  await throttle(caller, aThrottled(...answer));
}

describe('RateLimiter, at its edges', () => {
  it('lets a single call go at the end of a pause, and the next ones three seconds later', async () => {
    const bench = aBench(600);
    await refuse(bench, [10_000]);

    expect(await goneAt(bench, [9999, 10_000, 12_999, 13_000])).toEqual([0, 1, 0, 30]);
  });

  it('spreads calls for a minute after a pause, and no longer', async () => {
    const bench = aBench(60);
    await refuse(bench, [10_000]);
    await bench.clock.advance(69_999);

    expect(await goneAt(bench, [69_999, 70_000])).toEqual([6, 54]);
  });

  it.each([
    { nowMs: 9999, pausedUntilMs: 10_000 },
    { nowMs: 10_000, pausedUntilMs: undefined },
  ])('says $pausedUntilMs for the end of the pause at $nowMs ms', async (row) => {
    const bench = aBench(600);
    await refuse(bench, [10_000]);

    await bench.clock.advance(row.nowMs);

    expect(bench.limiter.pausedUntilMs()).toBe(row.pausedUntilMs);
  });

  it('rounds timers up to whole milliseconds, so as not to wake too early', async () => {
    const fake = createFakeClock();
    const delays: number[] = [];
    const clock: FakeClock = {
      ...fake,
      after: (delayMs, run) => {
        delays.push(delayMs);
        return fake.after(Math.trunc(delayMs), run);
      },
    };
    const { gone, call } = aBench(1, clock);
    await fake.advance(0.25);
    await call('first');

    await fake.advance(0.5);
    void call('second');
    await fake.advance(100_000);

    expect(delays).toEqual([60_001]);
    expect(gone).toEqual(['first 0.25', 'second 60001.75']);
  });

  it('counts the 429s of calls that were sent before the pause ended as one', async () => {
    const bench = aBench(100);
    const { limiter, caller } = bench;
    const permits = await Promise.all([caller.acquire(), caller.acquire()]);

    for (const permit of permits) permit.throttled(aLimitExceeded(10_000));

    expect(limiter.limitPerMinute()).toBe(50);
  });
});
