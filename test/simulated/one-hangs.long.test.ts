import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { applicationsOf, entryOf, longestOf, nerdGraph, rest, seenOf } from './fairness-bench.ts';

const hangAfterMs = 3 * minuteMs;

describe('5.1 one application of 200 whose calls are never answered', () => {
  it.each([
    { what: 'REST, one host', through: rest, hosts: 1, budget: 700, foundMs: 0 },
    { what: 'REST, 30 hosts', through: rest, hosts: 30, budget: 700, foundMs: 0 },
    // All queries that name it hang: it is found within ten intervals.
    { what: 'NerdGraph', through: nerdGraph, hosts: 1, budget: 30, foundMs: 10 * minuteMs },
    {
      what: 'NerdGraph, 30 hosts',
      through: nerdGraph,
      hosts: 30,
      budget: 30,
      foundMs: 10 * minuteMs,
    },
    {
      what: 'NerdGraph, few calls',
      through: nerdGraph,
      hosts: 1,
      budget: 11,
      foundMs: 10 * minuteMs,
    },
  ])('delays no other by more than a fifth of its interval: $what', async (row) => {
    const fromMs = hangAfterMs - minuteMs / 2 + row.foundMs;
    const seen = await seenOf({
      through: {
        ...row.through,
        account: { ...row.through.account, requestsPerMinute: row.budget },
      },
      applications: [...applicationsOf(1, row.hosts, 5000), ...applicationsOf(199, 1, 1000)],
      entries: [entryOf(/^/u, minuteMs)],
      minutes: Math.ceil(fromMs / minuteMs) + 6,
      hanging: new Set([5000]),
      hangAfterMs,
      fromMs,
    });

    expect(seen.stretch).toBe(1);
    expect(seen.violations).toBe(0);
    expect(longestOf(seen, 1000, 199)).toBeLessThanOrEqual(1.2 * minuteMs);
  });
});
