import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { apart, applicationsOf, entryOf, longestOf, rest, seenOf } from './fairness-bench.ts';

describe('2.2 a giant that would fill the budget for eight minutes', () => {
  it(
    'lets small applications, which are due ten times as often, pass all the time',
    slow,
    async () => {
      const seen = await seenOf({
        through: { ...rest, account: { requestsPerMinute: 150 } },
        applications: [
          { id: 9000, name: 'giant', hosts: 1200, kind: 'web' },
          ...applicationsOf(45, 1, 1000),
        ],
        entries: [entryOf(/^giant$/u, 10 * minuteMs), entryOf(/ 1\d\d\d$/u, minuteMs)],
        minutes: 20,
        fromMs: 6 * minuteMs,
      });

      expect(seen.stretch).toBeGreaterThan(1.3);
      expect(longestOf(seen, 1000, 45)).toBeLessThan(1.85 * seen.stretch * minuteMs);
    },
  );
});

describe('5.1 applications whose every call hangs until its timeout', () => {
  eachAfter(1, [
    { hanging: 4, concurrency: 2 },
    { hanging: 12, concurrency: 8 },
  ])('do not delay the others: $hanging, with $concurrency calls at a time', async (row) => {
    const healthy = 20;
    const seen = await seenOf({
      through: { ...rest, account: { concurrency: row.concurrency } },
      applications: [...applicationsOf(row.hanging, 10, 5000), ...applicationsOf(healthy, 2, 1000)],
      entries: apart,
      minutes: 12,
      hanging: new Set(Array.from({ length: row.hanging }, (_, index) => 5000 + index)),
      fromMs: 5 * minuteMs,
    });

    expect(longestOf(seen, 1000, healthy)).toBeLessThan(1.15 * minuteMs);
    expect(seen.mostInFlight).toBe(row.concurrency);
  });
});
