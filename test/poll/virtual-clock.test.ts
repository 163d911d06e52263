import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/poll/virtual-clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('VirtualClock', () => {
  it('runs more slowly while intervals are stretched, and neither jumps nor stops', async () => {
    const clock = createFakeClock();
    const time = new VirtualClock(clock);
    const seen = [time.nowMs()];
    for (const stretch of [1, 10, 10, 2.5]) {
      time.setStretch(stretch);
      seen.push(time.nowMs());
      await clock.advance(1000);
      seen.push(time.nowMs());
    }

    expect(seen).toEqual([0, 0, 1000, 1000, 1100, 1100, 1200, 1200, 1600]);
  });

  it('never takes a moment in the past for earlier than it was', async () => {
    const clock = createFakeClock();
    const time = new VirtualClock(clock);
    time.setStretch(2);
    await clock.advance(40_000);

    time.setStretch(4);
    await clock.advance(8000);

    // Virtual 10 s was after 20 s, virtual 21 s after 44 s.
    expect([10_000, 20_000, 21_000].map((virtualMs) => time.monotonicMsOf(virtualMs))).toEqual([
      30_000, 40_000, 44_000,
    ]);
  });

  it('comes back to the same moment, however often the stretch changes', async () => {
    const steps = fc.array(fc.tuple(fc.double({ min: 1, max: 100, noNaN: true }), fc.nat(1e6)));
    await fc.assert(
      fc.asyncProperty(steps, async (changes) => {
        const clock = createFakeClock();
        const time = new VirtualClock(clock);
        let expectedMs = 0;
        for (const [stretch, forMs] of changes) {
          time.setStretch(stretch);
          await clock.advance(forMs);
          expectedMs += forMs / stretch;
          const nowMs = clock.monotonicMs();
          expect(time.nowMs()).toBeCloseTo(expectedMs, 3);
          expect(time.monotonicMsOf(time.nowMs())).toBeCloseTo(nowMs, 3);
        }
      }),
      { numRuns: 30 },
    );
  });
});
