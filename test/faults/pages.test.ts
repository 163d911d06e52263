import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { slow } from '../support/slow.ts';
import { applicationListText } from '../support/vendor-documents.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';

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
  it('loses an application between two pages, and none from the page', slow, async () => {
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

describe('a configuration with 1500 ids that the account no longer has', () => {
  it(
    'shows the 50 others at once, with few calls, and reports ten more of the 1500 each time',
    slow,
    async () => {
      const simulator = { fleet: { applications: 50, hosts: 50, kinds: ['web'] } } as const;
      const gone = Array.from({ length: 1500 }, (_, index) => String(900_000_000 + index));
      const entries = gone.map((id) => ({ selector: { kind: 'id', id } }) as const);
      const options = { simulator, entries: [...entries] };
      const probe = createSimulator(simulator, { clock: createFakeClock() });
      const good = probe.fleet.applications().map(({ id }) => String(id));
      options.entries.push(...good.map((id) => ({ selector: { kind: 'id', id } }) as const));
      await withTimedFaults(options, async (bench) => {
        await bench.advance(30_000);
        const first = await bench.scrape();
        await bench.advance(8 * minuteMs);
        const later = await bench.scrape();

        const missing = 'newrelic_exporter_app_missing';
        const lists = bench.faulty.simulator.journal
          .entries(({ path }) => path === '/v2/applications.json')
          .map(({ monotonicMs }) => Math.floor(monotonicMs / minuteMs));
        const perMinute = [...new Set(lists)].map(
          (minute) => lists.filter((other) => other === minute).length,
        );
        expect(first.series(info, production)).toHaveLength(50);
        expect(first.value('newrelic_up', production)).toBe(1);
        expect(first.total(missing, production)).toBe(10);
        expect(later.series(info, production)).toHaveLength(50);
        expect(later.total(missing, production)).toBe(90);
        expect(perMinute).toEqual([18, ...perMinute.slice(1).map(() => 20)]);
      });
    },
  );
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
