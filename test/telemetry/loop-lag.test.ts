import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/model/clock.ts';
import { createLoopLag, type LoopLag } from '../../src/telemetry/loop-lag.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly lag: LoopLag;
  readonly stop: () => Promise<void>;
  /** From now on timers fire this much later than they are due. */
  delay: (ms: number) => void;
}

function aWatchedLoop(): Bench {
  const clock = createFakeClock();
  let lateMs = 0;
  const late: Clock = { ...clock, after: (delayMs, run) => clock.after(delayMs + lateMs, run) };
  const lag = createLoopLag({ clock: late });
  const controller = new AbortController();
  const watching = lag.watch(controller.signal);
  return {
    clock,
    lag,
    stop: async () => {
      controller.abort();
      await watching;
    },
    delay: (ms) => {
      lateMs = ms;
    },
  };
}

describe('createLoopLag', () => {
  it('is 0 while timers fire in time, and before anybody watches', async () => {
    const { clock, lag } = aWatchedLoop();
    await clock.advance(90_000);

    expect(lag.worstSeconds()).toBe(0);
    expect(createLoopLag({ clock }).worstSeconds()).toBe(0);
  });

  it('is the longest delay of the last minute, and forgets older ones', async () => {
    const { clock, lag, delay } = aWatchedLoop();
    delay(1500);
    await clock.advance(1000);
    delay(300);
    await clock.advance(2500);
    delay(0);
    await clock.advance(30_000);
    const soon = lag.worstSeconds();
    await clock.advance(60_000);

    expect(soon).toBe(1.5);
    expect(lag.worstSeconds()).toBe(0);
  });

  it('counts a look that is overdue although it has not come', async () => {
    const { clock, lag, delay } = aWatchedLoop();
    delay(60_000);
    await clock.advance(1000);
    await clock.advance(8000);

    expect(lag.worstSeconds()).toBe(7);
  });

  it('stops with the signal, and leaves no timer behind', async () => {
    const { clock, lag, stop } = aWatchedLoop();
    await clock.advance(1000);
    await stop();
    await clock.advance(10_000);

    expect(clock.pendingTimers()).toBe(0);
    expect(lag.worstSeconds()).toBe(0);
    await expect(lag.watch(AbortSignal.abort())).resolves.toBeUndefined();
  });
});
