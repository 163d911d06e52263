import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { apart, applicationsOf, both, entryOf, longestOf, seenOf } from './fairness-bench.ts';

describe.each(both)('2.2 an application with 10,000 hosts, through $name', (through) => {
  it('makes none of a hundred small ones wait longer than 1.2 times the stretched interval', async () => {
    const seen = await seenOf({
      through,
      applications: [
        { id: 9000, name: 'giant', hosts: 10_000 },
        ...applicationsOf(40, 3, 1000),
        ...applicationsOf(40, 5, 2000),
        ...applicationsOf(20, 20, 3000),
      ],
      entries: [
        entryOf(/^giant$/u, minuteMs),
        entryOf(/ 1\d\d\d$/u, minuteMs / 2),
        entryOf(/ 2\d\d\d$/u, minuteMs),
        entryOf(/ 3\d\d\d$/u, 2 * minuteMs),
      ],
      minutes: 50,
      fromMs: 15 * minuteMs,
    });

    const isInTime = (waitMs: number, intervalMs: number): boolean =>
      waitMs < 1.2 * seen.stretch * intervalMs + through.discoveryMs;
    expect(seen.violations).toBe(0);
    expect(seen.stretch).toBeGreaterThan(1.3);
    expect({
      giant: isInTime(longestOf(seen, 9000, 1), minuteMs),
      everyHalfMinute: isInTime(longestOf(seen, 1000, 40), minuteMs / 2),
      everyMinute: isInTime(longestOf(seen, 2000, 40), minuteMs),
      everyTwoMinutes: isInTime(longestOf(seen, 3000, 20), 2 * minuteMs),
    }).toEqual({ giant: true, everyHalfMinute: true, everyMinute: true, everyTwoMinutes: true });
  });
});

describe.each(both)(
  'applications whose every call hangs until its timeout, through $name',
  (through) => {
    it.each([
      { what: 'one', hanging: 1, healthy: 60 },
      { what: 'four', hanging: 4, healthy: 60 },
      { what: 'twelve', hanging: 12, healthy: 60 },
    ])('do not delay the others: $what', async ({ hanging, healthy }) => {
      const seen = await seenOf({
        applications: [...applicationsOf(hanging, 10, 5000), ...applicationsOf(healthy, 10, 1000)],
        entries: apart,
        through,
        minutes: 20,
        hanging: new Set(Array.from({ length: hanging }, (_, index) => 5000 + index)),
        fromMs: 5 * minuteMs,
      });

      expect(longestOf(seen, 1000, healthy)).toBeLessThan(1.15 * minuteMs);
      expect(seen.mostInFlight).toBeLessThanOrEqual(8);
    });

    // A poll of what hangs lasts as long as its timeouts, one after the other; then each is asked for apart.
    it('are polled again within three minutes when they are answered again', async () => {
      const hanging = Array.from({ length: 12 }, (_, index) => 5000 + index);

      const seen = await seenOf({
        applications: [...applicationsOf(12, 10, 5000), ...applicationsOf(60, 10, 1000)],
        entries: apart,
        through,
        minutes: 15,
        hanging: new Set(hanging),
        recoverAfterMs: 10 * minuteMs,
        fromMs: 10 * minuteMs,
      });

      expect(longestOf(seen, 5000, 12)).toBeLessThan(2.75 * minuteMs);
      expect(longestOf(seen, 1000, 60)).toBeLessThan(through.recovery * minuteMs);
    });
  },
);
