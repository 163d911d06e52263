import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import {
  applicationsOf,
  entryOf,
  longestOf,
  nerdGraph,
  rest,
  type Seen,
  seenOf,
  type Through,
} from './fairness-bench.ts';

const beginMs = 4 * minuteMs;
const isOddMinute = (ms: number): boolean => Math.floor(ms / minuteMs) % 2 === 1;

interface Half {
  readonly through: Through;
  readonly count: number;
  /** A tenth more than the demand. */
  readonly budget: number;
  readonly fails: (monotonicMs: number) => boolean;
  readonly fromMs: number;
}

/** With NerdGraph, those that fail are asked for in queries of their own. */
async function seenOfHalf({ through, count, budget, fails, fromMs }: Half): Promise<Seen> {
  const half = count / 2;
  const hosts = through === rest;
  return seenOf({
    through: { ...through, account: { ...through.account, requestsPerMinute: budget } },
    applications: [...applicationsOf(half, 1, 5000), ...applicationsOf(half, 1, 10_000)],
    entries: [
      { ...entryOf(/ [5-9]\d\d\d$/u, minuteMs, 240_000), hosts },
      { ...entryOf(/ 1\d\d\d\d$/u, minuteMs), hosts },
    ],
    minutes: 16,
    hanging: new Set(Array.from({ length: half }, (_, index) => 5000 + index)),
    hangAfterMs: beginMs,
    spoil: (response, monotonicMs) => {
      if (!fails(monotonicMs)) return 'pass';
      response.statusCode = 500;
      response.end('{}');
      return 'handled';
    },
    fromMs,
  });
}

const many = { what: '200 applications through REST', through: rest, count: 200, budget: 442 };
const more = { what: '10,000 through NerdGraph', through: nerdGraph, count: 10_000, budget: 110 };

describe('5.1 half of all applications', () => {
  it.each([many, more])(
    'that fail for good delay the others by a tenth of their interval once each has had its retry: $what',
    async (fleet) => {
      const seen = await seenOfHalf({
        ...fleet,
        fails: () => true,
        fromMs: beginMs + 3 * minuteMs,
      });

      expect(seen.stretch).toBe(1);
      expect(seen.mostInAnyMinute).toBeLessThanOrEqual(fleet.budget);
      expect(longestOf(seen, 10_000, fleet.count / 2)).toBeLessThanOrEqual(66 * secondMs);
    },
  );

  it.each([many, more])(
    'that fail every other minute delay the others by half of their interval: $what',
    async (fleet) => {
      const seen = await seenOfHalf({ ...fleet, fails: isOddMinute, fromMs: beginMs - minuteMs });

      expect(seen.stretch).toBe(1);
      expect(seen.mostInAnyMinute).toBeLessThanOrEqual(fleet.budget);
      expect(longestOf(seen, 10_000, fleet.count / 2)).toBeLessThanOrEqual(90 * secondMs);
    },
  );
});
