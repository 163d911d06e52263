import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { manyApplications, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { byNerdGraph } from './sources.ts';

const production = { account: 'production' };
const info = 'newrelic_application_info';
const hostSeries = 'newrelic_application_host_requests_per_minute';
const source = byNerdGraph.account;
const badTime = { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs } as const;

/** Seven applications, on four pages. */
const simulator = {
  fleet: { applications: manyApplications(7, 2) },
  graphql: { entityPageSize: 2 },
};

/** A page with one application of the fleet, which names the given cursor as the next. */
function pageText(nextCursor: string): string {
  const entity = { applicationId: 101, name: 'shop', accountId: 1_234_567, reporting: true };
  const results = { nextCursor, entities: [entity] };
  return JSON.stringify({ data: { actor: { entitySearch: { count: 7, results } } } });
}

describe('a list of NerdGraph', () => {
  it.each<{ what: string; script: FaultRule[]; reason: string }>([
    {
      what: 'a page in the middle fails',
      script: [
        {
          when: { ...byNerdGraph.lists, ...badTime, calls: { first: 2, every: 2 } },
          fault: { kind: 'graphql_error', errorClass: 'INVALID_INPUT', message: 'bad cursor' },
        },
      ],
      reason: 'client',
    },
    {
      what: 'a page in the middle is a page of a gateway',
      script: [
        {
          when: { ...byNerdGraph.lists, ...badTime, calls: { first: 2, every: 2 } },
          fault: { kind: 'html' },
        },
      ],
      reason: 'not_json',
    },
    {
      what: 'its cursors go round in a circle',
      script: [
        {
          when: { ...byNerdGraph.lists, ...badTime },
          fault: { kind: 'document', body: pageText('again') },
        },
      ],
      reason: 'schema',
    },
  ])('that is not whole removes nothing and stops no poll: $what', async ({ script, reason }) => {
    const entries = [{ selector: { kind: 'match', pattern: /^(?!shop$)/u } }] as const;
    await withTimedFaults({ source, simulator, script, entries }, async (bench) => {
      await bench.advance(1.9 * minuteMs);
      const before = await bench.scrape();
      await bench.advance(5 * minuteMs);
      const during = await bench.scrape();
      await bench.advance(2 * minuteMs);
      const after = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(5);
      expect(before.series(hostSeries, production)).toHaveLength(14);
      expect(during.value('newrelic_up', production)).toBe(0);
      expect(during.series(info, production)).toHaveLength(7);
      expect(during.series(hostSeries, production)).toHaveLength(14);
      expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason } }]);
      expect(bench.logs('poll failed')).toEqual([]);
      expect(after.value('newrelic_up', production)).toBe(1);
      expect(freshness(after, bench.clock)).toHaveLength(7 + 2);
    });
  });

  it('removes at once what is gone from a whole list, and from none else', async () => {
    await withTimedFaults({ source, simulator }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const { fleet } = bench.faulty.simulator;
      const [first] = fleet.applications();
      if (first !== undefined) fleet.removeApplication(first.id);
      await bench.advance(1.1 * minuteMs);
      const page = await bench.scrape();

      expect(page.series(info, production)).toHaveLength(6);
      expect(page.value('newrelic_up', production)).toBe(1);
      expect(bench.logs('poll failed')).toEqual([]);
    });
  });
});
