import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { aCaller, aLimitExceeded, aLimiter, aThrottled, type Caller, throttle } from './fakes.ts';

interface Run {
  readonly sentAtMs: number[];
  readonly send: (latencyMs: number) => void;
}

/** Sends through a limiter on a fake clock and notes when each call got its permit. */
function aRun(clock: FakeClock, requestsPerMinute: number): Run {
  const limiter = aLimiter(clock, requestsPerMinute);
  const caller = aCaller(limiter);
  const sentAtMs: number[] = [];
  return {
    sentAtMs,
    send: (latencyMs) => {
      void (async () => {
        const { release } = await caller.acquire();
        sentAtMs.push(clock.monotonicMs());
        clock.after(latencyMs, () => release(true));
      })();
    },
  };
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

describe('RateLimiter', () => {
  it('spreads the calls that a pause has held up over a minute, and then goes back to normal', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 600);
    const caller = aCaller(limiter);
    const sentAtMs: number[] = [];
    const send = async (): Promise<void> => {
      const { release } = await caller.acquire();
      sentAtMs.push(clock.monotonicMs());
      release(true);
    };

    await throttle(caller, aThrottled(10_000));
    for (let call = 0; call < 100; call += 1) void send();
    await clock.advance(70_000);
    const heldUp = sentAtMs.splice(0);
    for (let call = 0; call < 100; call += 1) void send();
    await clock.advance(1000);

    expect(heldUp).toHaveLength(100);
    expect(mostInAnyWindow(heldUp, 4900)).toBeLessThanOrEqual(60);
    expect(mostInAnyWindow(sentAtMs, 100)).toBe(100);
  });

  it('uses at least 98.5 % of the budget when there is always something to send', async () => {
    const clock = createFakeClock();
    const run = aRun(clock, 990);

    for (let call = 0; call < 990 * 12; call += 1) run.send(300);
    await clock.advance(10 * 60_000);

    expect(run.sentAtMs.length).toBeGreaterThanOrEqual(990 * 10 * 0.985);
  });

  it.each([{ requestsPerMinute: 5 }, { requestsPerMinute: 11 }, { requestsPerMinute: 40 }])(
    'uses at least 98.5 % of $requestsPerMinute calls a minute, too, while they are spaced evenly and lists go between them',
    async ({ requestsPerMinute }) => {
      const clock = createFakeClock();
      const limiter = aLimiter(clock, requestsPerMinute);
      const sentAtMs: number[] = [];
      const send = async (caller: Caller): Promise<void> => {
        const { release } = await caller.acquire();
        sentAtMs.push(clock.monotonicMs());
        clock.after(80 + ((sentAtMs.length * 97) % 320), () => release(true));
      };
      const [polls, lists] = [aCaller(limiter, true), aCaller(limiter)];

      for (let call = 0; call < 22 * requestsPerMinute; call += 1) void send(polls);
      for (let minute = 0; minute < 20; minute += 1) {
        await clock.advance(60_000);
        void send(lists);
      }

      expect(sentAtMs.length).toBeGreaterThanOrEqual(20 * requestsPerMinute * 0.985);
      expect(mostInAnyWindow(sentAtMs, 60_000)).toBe(requestsPerMinute);
    },
  );

  it('lets nothing go during a pause, and goes on after it', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 60);
    const caller = aCaller(limiter);
    const permit = await caller.acquire();
    permit.throttled(aThrottled(30_000));
    permit.throttled(aThrottled(10_000));
    permit.release(true);
    let goneAtMs = -1;

    void (async () => {
      await caller.acquire();
      goneAtMs = clock.monotonicMs();
    })();
    const during = limiter.pausedUntilMs();
    await clock.advance(40_000);

    expect(during).toBe(30_000);
    expect(goneAtMs).toBe(30_000);
    expect(limiter.pausedUntilMs()).toBeUndefined();
  });

  it('is pristine when everything is over, and only then', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 2);
    const caller = aCaller(limiter);
    const isPristine = [limiter.isPristine()];
    const note = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      isPristine.push(limiter.isPristine());
    };

    const permit = await caller.acquire();
    await note(100_000);
    permit.throttled(aThrottled(101_000));
    permit.release(true);
    await note(60_001);
    await note(999);
    await throttle(caller, aLimitExceeded(162_000, { sentMs: 161_000 }));
    await note(299_999);
    await note(1);

    expect(isPristine).toEqual([true, false, false, true, false, true]);
  });

  it('counts the 429s of one trouble, which ends five minutes after the last one', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 600);
    const caller = aCaller(limiter);
    const seen = [limiter.refusals()];
    for (const [waitMs, throttled] of [
      [1000, true],
      [299_999, true],
      [300_000, false],
      [1000, true],
    ] as const) {
      await clock.advance(waitMs);
      if (throttled) (await caller.acquire()).throttled(aThrottled(clock.monotonicMs()));
      seen.push(limiter.refusals());
    }

    expect(seen).toEqual([
      undefined,
      { calls: 1, sinceMs: 1000, lastMs: 1000 },
      { calls: 2, sinceMs: 1000, lastMs: 300_999 },
      undefined,
      { calls: 1, sinceMs: 601_999, lastMs: 601_999 },
    ]);
  });

  it('spaces calls evenly over the minute in batches of three seconds, and others not', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 600);
    const spaced = aCaller(limiter, true);
    const sentAtMs: number[] = [];
    const send = async (caller: Caller): Promise<void> => {
      (await caller.acquire()).release(true);
      sentAtMs.push(clock.monotonicMs());
    };
    for (let call = 0; call < 200; call += 1) void send(spaced);
    await clock.advance(7000);
    const evenly = sentAtMs.splice(0);
    for (let call = 0; call < 50; call += 1) void send(aCaller(limiter));
    await clock.advance(10);

    expect(evenly.filter((atMs) => atMs === 0)).toHaveLength(60);
    expect(evenly).toHaveLength(120);
    expect(sentAtMs.length).toBeGreaterThanOrEqual(50);
  });

  it.each([
    { from: 600, to: 60, least: 0, most: 60 },
    { from: 60, to: 600, least: 500, most: 660 },
  ])(
    'spaces calls by another limit from the moment it is set: $to instead of $from',
    async (row) => {
      const clock = createFakeClock();
      const limiter = aLimiter(clock, row.from);
      const caller = aCaller(limiter, true);
      let sent = 0;
      const send = async (): Promise<void> => {
        (await caller.acquire()).release(true);
        sent += 1;
      };
      for (let call = 0; call < 3000; call += 1) void send();
      await clock.advance(120_000);
      const before = sent;

      limiter.resize(row.to);
      await clock.advance(60_000);

      expect(sent - before).toBeGreaterThanOrEqual(row.least);
      expect(sent - before).toBeLessThanOrEqual(row.most);
    },
  );

  it('wakes when a call in flight ends, if that was all that blocked it', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 1);
    const caller = aCaller(limiter);
    const { release } = await caller.acquire();
    let gone = false;

    void (async () => {
      await caller.acquire();
      gone = true;
    })();
    await clock.advance(100_000);
    const whileInFlight = gone;
    release(true);
    await clock.advance(60_001);

    expect(whileInFlight).toBe(false);
    expect(gone).toBe(true);
  });
});
