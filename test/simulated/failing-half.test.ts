import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { slow } from '../support/slow.ts';
import { failingHalf } from './failing-bench.ts';

// Of 150 calls a minute 101 are needed.
const fleet = { applications: 100, requestsPerMinute: 150, intervalMs: minuteMs, minutes: 8 };

describe('5.1 applications of which half fail', () => {
  it(
    'do not make the others wait while each of their calls fails, and are asked for by their interval',
    slow,
    async () => {
      const seen = await failingHalf({ ...fleet, fails: () => true });

      expect(seen.intervalSeconds).toBe(60);
      expect(seen.longestGapMs).toBeLessThan(1.1 * minuteMs);
      expect(seen.mostInAnyMinute).toBeLessThanOrEqual(150);
      expect(seen.succeeded).toBe(0);
      // Fifty each minute, and the retries of their first failing polls.
      expect(seen.callsForFailing).toBeLessThan(50 + 100 / 8 + 5);
    },
  );

  it(
    'are tried again at once as often as the budget is free, and no more often',
    slow,
    async () => {
      const seen = await failingHalf({ ...fleet, fails: (one) => one % 4 < 2 });

      expect(seen.intervalSeconds).toBe(60);
      expect(seen.longestGapMs).toBeLessThan(1.1 * minuteMs);
      expect(seen.callsForFailing).toBeGreaterThan(55);
      expect(seen.callsForFailing).toBeLessThan(100);
    },
  );

  it('have all their values when only each second try fails', slow, async () => {
    const seen = await failingHalf({ ...fleet, applications: 60, fails: (one) => one % 2 === 0 });

    expect(seen.intervalSeconds).toBe(60);
    expect(seen.succeeded).toBe(30);
  });
});
