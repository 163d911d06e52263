import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { slow } from '../support/slow.ts';
import { applicationListText } from '../support/vendor-documents.ts';
import { type FaultBench, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';

const lists = { endpoints: ['applications'] } as const;
const info = 'newrelic_application_info';
const production = { account: 'production' };

/** As JSON text, so that a lone surrogate is one, and the label value that becomes of it. */
const names: readonly { readonly text: string; readonly label: string }[] = [
  { text: String.raw`"a\"b\\c"`, label: String.raw`a"b\c` },
  { text: String.raw`"line\nfeed"`, label: 'line\uFFFDfeed' },
  { text: String.raw`"a\r\tb"`, label: 'a\uFFFD\uFFFDb' },
  { text: String.raw`"nul\u0000"`, label: 'nul\uFFFD' },
  { text: String.raw`"\u001b[31mred"`, label: '\uFFFD[31mred' },
  { text: String.raw`"c1\u009b"`, label: 'c1\uFFFD' },
  { text: String.raw`"\u202egnp.exe"`, label: '\uFFFDgnp.exe' },
  { text: String.raw`"high\ud800"`, label: 'high\uFFFD' },
  { text: String.raw`"\udc00low"`, label: '\uFFFDlow' },
  { text: String.raw`"pair\ud83d\ude00"`, label: 'pair😀' },
  { text: '"} 1\\n# EOF\\nnewrelic_up{x=\\""', label: '} 1\uFFFD# EOF\uFFFDnewrelic_up{x="' },
  { text: '""', label: '' },
];

describe('a name of the vendor', () => {
  it.each(names)('becomes a label that spoils nothing: $text', async ({ text, label }) => {
    const list = applicationListText([
      { id: '101', name: text, hostIds: '1011,1012' },
      { id: '102', name: '"worker"', hostIds: '1021' },
    ]);
    const hosts = `{"application_hosts":[{"id":1011,"host":${text}},{"id":1012,"host":${text}}]}`;
    const script = [
      { when: lists, fault: { kind: 'document', body: list } },
      {
        when: { endpoints: ['hosts'], applicationId: '101' },
        fault: { kind: 'document', body: hosts },
      },
    ] as const;
    await withTimedFaults({ script }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const shop = { account: 'production', app_id: '101' };
      const hostNames = page
        .series('newrelic_application_host_requests_per_minute', {
          ...shop,
          transaction_type: 'web',
        })
        .map(({ host_id: id, host_name: name }) => [id, name]);
      expect(script.map((rule) => bench.faulty.faults.hits(rule).length)).toEqual([1, 1]);
      expect(page.series(info, shop).map(({ app_name: name }) => name)).toEqual([label]);
      expect(hostNames).toEqual([
        ['1011', label === '' ? '1011' : label],
        ['1012', label === '' ? '1012' : label],
      ]);
      expect(freshness(page, bench.clock)).toContain('production 102');
    });
  });

  it('of a million characters is cut, and stays different from another such name', async () => {
    const long = 'x'.repeat(1_000_000);
    const list = applicationListText([
      { id: '101', name: `"${long}1"`, hostIds: '1011' },
      { id: '102', name: `"${long}2"`, hostIds: '1021' },
    ]);
    const rule = { when: lists, fault: { kind: 'document', body: list } } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const labels = page
        .series(info, { account: 'production' })
        .map((series) => series['app_name']);
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(labels.map((label) => label?.length)).toEqual([256, 256]);
      expect(new Set(labels).size).toBe(2);
      expect(bench.platform.stderr.text().length).toBeLessThan(20_000);
    });
  });

  it('may be that of another application, or become it: their ids keep them apart', async () => {
    const list = applicationListText([
      { id: '101', name: String.raw`"a\u0000"`, hostIds: '1011' },
      { id: '102', name: String.raw`"a\u0001"`, hostIds: '1021' },
    ]);
    const rule = { when: lists, fault: { kind: 'document', body: list } } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const series = page.series(info, { account: 'production', app_name: 'a\uFFFD' });
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(series.map(({ app_id: id }) => id)).toEqual(['101', '102']);
      expect(page.total('newrelic_exporter_series_dropped_total')).toBe(0);
    });
  });
});

describe('the names of hosts', () => {
  it('come page by page for an application of any size', slow, async () => {
    const hosts = Array.from({ length: 600 }, (_, index) => ({
      id: 1000 + index,
      name: `web-${index}`,
    }));
    const simulator = {
      latencyMs: 900,
      quotaPerMinute: 1_000_000,
      fleet: { applications: [{ id: 101, name: 'giant', kind: 'web', webRpm: 60, hosts }] },
    } as const;
    const account = { requestsPerMinute: 20_000, concurrency: 64 };
    await withTimedFaults({ simulator, account }, async (bench) => {
      await bench.advance(60_000);
      const page = await bench.scrape();

      const series = page.series('newrelic_application_host_requests_per_minute', production);
      const calls = bench.faulty.simulator.journal.count(({ path }) => path.endsWith('hosts.json'));
      expect(series).toHaveLength(600);
      expect(series.filter(({ host_id: id, host_name: name }) => id === name)).toEqual([]);
      expect(calls).toBe(3);
    });
  });

  it('come at the start of an account that nearly fills its budget', slow, async () => {
    const simulator = {
      latencyMs: 300,
      fleet: { applications: 95, hosts: 95, kinds: ['web'] },
    } as const;
    await withTimedFaults({ simulator, account: { requestsPerMinute: 200 } }, async (bench) => {
      await bench.advance(2 * 60_000);
      const page = await bench.scrape();

      const series = page.series('newrelic_application_host_requests_per_minute', production);
      expect(series).toHaveLength(95);
      expect(series.filter(({ host_id: id, host_name: name }) => id === name)).toEqual([]);
    });
  });

  it('that never come hold up the values for ten seconds', async () => {
    const rule = { when: { endpoints: ['hosts'] }, fault: { kind: 'silence' } } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(15_000);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits()).toHaveLength(2);
      expect(freshness(page, bench.clock)).toContain('production 101');
      expect(bench.logs('host names not available')).toMatchObject([
        { account: 'production', error: { reason: 'timeout' } },
      ]);
    });
  });

  it('that come while no values do are shown with those that are held', async () => {
    const failing = { kind: 'status', status: 500 } as const;
    const script = [
      { when: { endpoints: ['hosts'], untilMs: 5 * minuteMs }, fault: failing },
      {
        when: { endpoints: ['application_metrics', 'host_metrics'], fromMs: 2 * minuteMs },
        fault: failing,
      },
    ] as const;
    // A discovery brings news of the application, and with them whatever else has changed.
    const entries = [{ poll: { discoveryIntervalMs: 30 * minuteMs } }];
    await withTimedFaults({ script, entries }, async (bench) => {
      await bench.advance(9 * minuteMs);
      const before = await shownHostNames(bench);
      await bench.advance(3 * minuteMs);

      expect(before).toEqual(['1011', '1012']);
      expect(await shownHostNames(bench)).toEqual(['s1', 's2']);
    });
  });

  const listOfOne = JSON.stringify({ application_hosts: [{ id: 1011, host: 's1' }] });

  it.each<{ what: string; fault: Fault; calls: number }>([
    {
      what: 'a page of them fails, and asked for again every ten minutes',
      fault: { kind: 'status', status: 422 },
      calls: 3,
    },
    {
      what: 'the others have none, and asked for again after one minute, and then ever later',
      fault: { kind: 'document', body: listOfOne },
      calls: 5,
    },
  ])('are shown as far as they come where $what', slow, async ({ fault, calls }) => {
    const when = { endpoints: ['hosts'], queryIncludes: 'page=2' } as const;
    const rule = { when, fault };
    const entries = [{ poll: { intervalMs: 2 * minuteMs, discoveryIntervalMs: 30 * minuteMs } }];
    const options = { simulator: { pageSize: 1 }, script: [rule], entries };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(30_000);
      const shown = await shownHostNames(bench);
      await bench.advance(25 * minuteMs);

      expect(shown).toEqual(['s1', '1012']);
      expect(bench.faulty.faults.hits()).toHaveLength(calls);
    });
  });
});

describe('the host of this process', () => {
  it.each([
    { what: 'it is there', name: 's1', application: false, missing: undefined },
    { what: 'New Relic does not know it', name: 'nobody', application: false, missing: 1 },
    {
      what: 'the application is shown beside it',
      name: 'nobody',
      application: true,
      missing: undefined,
    },
  ])('is missing only where nothing else is shown: $what', async (row) => {
    const { name, application, missing } = row;
    const hosts = { kind: 'self', names: [name] } as const;
    const selector = { kind: 'id', id: '101' } as const;
    await withTimedFaults({ entries: [{ selector, application, hosts }] }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      const selected = { ...production, selector: 'id=101' };
      expect(page.value('newrelic_exporter_app_missing', selected)).toBe(missing);
    });
  });
});

async function shownHostNames(bench: FaultBench): Promise<readonly (string | undefined)[]> {
  const web = { ...production, transaction_type: 'web' };
  const page = await bench.scrape();
  return page
    .series('newrelic_application_host_requests_per_minute', web)
    .map(({ host_name: name }) => name);
}
