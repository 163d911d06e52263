import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../support/fake-clock.ts';
import { aCaller, aLimitExceeded, aLimiter, aThrottled, throttle } from './fakes.ts';

describe('the limit of a rate limiter', () => {
  it('is reduced only by a 429 that names it, and says when it is full again', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 100);
    const caller = aCaller(limiter);
    const limits: [number, boolean][] = [];
    const note = (): void => {
      limits.push([limiter.limitPerMinute(), limiter.isReduced()]);
    };

    await throttle(caller, aThrottled(1000));
    note();
    await clock.advance(1000);
    await throttle(caller, aLimitExceeded(31_000, { sentMs: 1000 }));
    note();
    await clock.advance(299_999);
    note();
    await clock.advance(1);
    note();

    expect(limits).toEqual([
      [100, false],
      [50, true],
      [90, true],
      [100, false],
    ]);
  });

  it('tells every listener of every step, and sets no timer without a listener', async () => {
    const clock = createFakeClock();
    const limiter = aLimiter(clock, 100);
    const caller = aCaller(limiter);
    const steps: string[] = [];
    await throttle(caller, aLimitExceeded(1000));
    const withoutListener = clock.pendingTimers();
    await clock.advance(30_000);

    const stop = limiter.onLimitChange(() => {
      steps.push(`${limiter.limitPerMinute()} at ${clock.monotonicMs() / 1000} s`);
    });
    await clock.advance(600_000);
    const afterRecovery = clock.pendingTimers();
    await throttle(caller, aLimitExceeded(700_000, { sentMs: 630_000 }));
    const duringRecovery = clock.pendingTimers();
    stop();

    expect(steps).toEqual([
      '60 at 60 s',
      '70 at 120 s',
      '80 at 180 s',
      '90 at 240 s',
      '100 at 300 s',
      '50 at 630 s',
    ]);
    expect([withoutListener, afterRecovery, duringRecovery]).toEqual([0, 0, 1]);
    expect(clock.pendingTimers()).toBe(0);
  });
});
