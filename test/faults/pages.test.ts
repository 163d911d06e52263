import { describe, expect, it } from 'vitest';
import { applicationListText } from '../../src/simulator/fault-documents.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';

const minuteMs = 60_000;
const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const production = { account: 'production' };
const info = 'newrelic_application_info';

describe('a cache on the way that does not look at the query', () => {
  it('gives page 1 for page 2, and nothing is removed', async () => {
    const fault = {
      kind: 'document',
      body: applicationListText([{ id: '101', name: '"shop"', hostIds: '1011,1012' }]),
      link: '</v2/applications.json?page=2>; rel="next", </v2/applications.json?page=2>; rel="last"',
    } as const;
    const when = {
      endpoints: ['applications'],
      fromMs: 2 * minuteMs,
      untilMs: 7 * minuteMs,
    } as const;
    await withTimedFaults({ script: [{ when, fault }] }, async (bench) => {
      await bench.advance(6.9 * minuteMs);
      const during = await bench.scrape();
      const duringFresh = freshness(during, bench.clock);
      await bench.advance(3 * minuteMs);
      const after = await bench.scrape();

      const second = bench.faulty.faults
        .hits()
        .filter(({ request }) => request.query.includes('page=2'));
      expect(second.length).toBeGreaterThanOrEqual(3);
      expect(during.value('newrelic_up', production)).toBe(0);
      expect(duringFresh).toEqual(everyone);
      expect(after.value('newrelic_up', production)).toBe(1);
      expect(freshness(after, bench.clock)).toEqual(everyone);
    });
  });
});

describe('a list whose order changes from call to call', () => {
  it('loses an application between two pages, and none from the page', async () => {
    const simulator = {
      fleet: { applications: 10, hosts: 10 },
      pageSize: 3,
      shuffle: 'per_call',
    } as const;
    await withTimedFaults({ simulator }, async (bench) => {
      await bench.advance(minuteMs);
      const counts: number[] = [];
      for (let minute = 0; minute < 20; minute += 1) {
        await bench.advance(minuteMs);
        counts.push((await bench.scrape()).series(info, production).length);
      }

      const { journal } = bench.faulty.simulator;
      // Asked for only because a list had left them out.
      const askedAgain = journal.count(({ query }) => decodeURIComponent(query).includes('[ids]'));
      expect(journal.count(({ query }) => query.includes('page=4'))).toBeGreaterThan(10);
      expect(askedAgain).toBeGreaterThan(10);
      expect(counts).toEqual(counts.map(() => 10));
    });
  });
});

describe('a list by ids that is answered 404 because of one of them', () => {
  it('is asked for in parts: the others are polled, and the one is reported', async () => {
    const rule = {
      when: { endpoints: ['applications'], queryIncludes: '999' },
      fault: { kind: 'status', status: 404 },
    } as const;
    const entries = ['101', '102', '999'].map((id) => ({ selector: { kind: 'id', id } }) as const);
    await withTimedFaults({ script: [rule], entries }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(4);
      expect(page.value('newrelic_up', production)).toBe(1);
      expect(page.value('newrelic_exporter_app_missing', { selector: 'id=999' })).toBe(1);
      expect(freshness(page, bench.clock)).toEqual(everyone);
    });
  });

  it('removes nothing when it is answered 404 for any of them', async () => {
    const when = {
      endpoints: ['applications'],
      fromMs: 2 * minuteMs,
      untilMs: 7 * minuteMs,
    } as const;
    const rule = { when, fault: { kind: 'status', status: 404 } } as const;
    const entries = ['101', '102'].map((id) => ({ selector: { kind: 'id', id } }) as const);
    await withTimedFaults({ script: [rule], entries }, async (bench) => {
      await bench.advance(6.9 * minuteMs);
      const during = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(9);
      expect(during.value('newrelic_up', production)).toBe(0);
      expect(freshness(during, bench.clock)).toEqual(everyone);
    });
  });
});
