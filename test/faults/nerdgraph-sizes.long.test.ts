import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { manyApplications, type TimedBench, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { byNerdGraph } from './sources.ts';

const production = { account: 'production' };
const app = 'newrelic_application_requests_per_minute';
const host = 'newrelic_application_host_requests_per_minute';
const source = byNerdGraph.account;

/** 60 applications with twelve hosts each. */
const fleet = { applications: manyApplications(60, 12) };

/** Calls within each minute. */
function callsByMinute({ faulty }: TimedBench, minutes: number): readonly number[] {
  const counts = Array.from({ length: minutes }, () => 0);
  for (const { monotonicMs } of faulty.simulator.journal.entries()) {
    const minute = Math.floor(monotonicMs / minuteMs);
    counts[minute] = (counts[minute] ?? 0) + 1;
  }
  return counts;
}

describe('a query that is too large for NerdGraph', () => {
  it.each([
    { what: 'too big', graphql: { mostRows: 1000 } },
    // A query has 25 seconds.
    { what: 'too slow', graphql: { rowsPerSecond: 40 } },
  ])('is asked in parts, and from then on in that size: $what', async ({ graphql }) => {
    await withTimedFaults({ source, simulator: { fleet, graphql } }, async (bench) => {
      await bench.advance(10 * minuteMs);
      const page = await bench.scrape();

      const failures = page.total('newrelic_exporter_api_request_failures_total', production);
      const counts = callsByMinute(bench, 10);
      expect(page.series(app, production)).toHaveLength(60);
      expect(page.series(host, production)).toHaveLength(720);
      expect(freshness(page, bench.clock)).toHaveLength(60 + 2);
      expect(failures).toBeGreaterThan(0);
      expect(failures).toBeLessThanOrEqual(15);
      // The first minutes find out the size.
      expect(Math.max(...counts.slice(3))).toBeLessThanOrEqual(20);
    });
  });

  it('whose rows are cut off is asked in parts by the next polls, down to the hosts of one application', async () => {
    const script = [{ fault: { kind: 'truncated', rows: 2 } }] as const;
    await withTimedFaults({ source, script }, async (bench) => {
      await bench.advance(10 * minuteMs);
      const page = await bench.scrape();

      const failures = 'newrelic_exporter_api_request_failures_total';
      expect(page.series(app, production)).toHaveLength(3);
      expect(page.series(host, production)).toHaveLength(5);
      expect(freshness(page, bench.clock)).toHaveLength(4);
      expect(page.total(failures, { ...production, reason: 'too_large' })).toBeGreaterThan(0);
    });
  });

  it('has its numbers taken from texts', async () => {
    const script = [{ fault: { kind: 'numbers_as_text' } }] as const;
    await withTimedFaults({ source, script }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThan(5);
      expect(page.series(app, production)).toHaveLength(3);
      expect(freshness(page, bench.clock)).toHaveLength(4);
    });
  });
});
