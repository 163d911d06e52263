import { describe, expect, it } from 'vitest';
import { sendHeartbeats } from '../../src/daemon/serve.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('sendHeartbeats', () => {
  it('sends one at once and then every ten seconds, with the reason for a standstill, until it is stopped', async () => {
    const clock = createFakeClock();
    const stopper = new AbortController();
    const told: unknown[] = [];
    let stalled: string | undefined;
    const done = sendHeartbeats(
      clock,
      (message) => told.push(message),
      () => stalled,
      stopper.signal,
    );
    const atOnce = told.length;
    await clock.advance(10_000);
    stalled = 'account one stands still';
    await clock.advance(10_000);
    stopper.abort();
    await done;
    await clock.advance(60_000);

    expect(atOnce).toBe(1);
    expect(told).toEqual(['', '', 'account one stands still']);
    expect(clock.pendingTimers()).toBe(0);
  });
});
