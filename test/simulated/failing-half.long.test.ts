import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { failingHalf } from './failing-bench.ts';

describe('5.1 ten thousand applications of which half fail', () => {
  it('are polled as often as configured while the budget suffices', async () => {
    const seen = await failingHalf({
      applications: 10_000,
      requestsPerMinute: 3000,
      intervalMs: 5 * minuteMs,
      minutes: 12,
      fails: () => true,
    });

    expect(seen.intervalSeconds).toBe(300);
    expect(seen.longestGapMs).toBeLessThan(1.1 * 5 * minuteMs);
    expect(seen.mostInAnyMinute).toBeLessThanOrEqual(3000);
  });
});
