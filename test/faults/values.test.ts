import { describe, expect, it } from 'vitest';
import type { ValueName } from '../../src/model/vendor-value.ts';
import { applicationListText, metricDataText, nestedText } from '../support/vendor-documents.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';

const shop = { account: 'production', app_id: '101' };
const rpm = 'newrelic_application_requests_per_minute';
const hostRpm = 'newrelic_application_host_requests_per_minute';
const invalid = 'newrelic_exporter_invalid_samples_total';
const metricsOfShop = { endpoints: ['application_metrics'], applicationId: '101' } as const;
const lists = { endpoints: ['applications'] } as const;

const workerText = { id: '102', name: '"worker"', hostIds: '1021' };

describe('5.2 a value of the vendor', () => {
  it.each([
    { text: '1e999', value: undefined, reasons: ['not_finite'] },
    { text: '-1', value: undefined, reasons: ['negative'] },
    { text: '-5e-324', value: undefined, reasons: ['negative'] },
    { text: '"12"', value: undefined, reasons: ['not_a_number'] },
    { text: '{"requests_per_minute":7}', value: undefined, reasons: ['not_a_number'] },
    { text: nestedText(50_000), value: undefined, reasons: ['not_a_number'] },
    { text: '0', value: 0, reasons: [] },
    { text: '-0', value: 0, reasons: [] },
    { text: '5e-324', value: 5e-324, reasons: [] },
    { text: '1.7976931348623157e308', value: Number.MAX_VALUE, reasons: [] },
  ])('is published only as a finite number that is not negative: $text', async (row) => {
    const body = metricDataText(`{"requests_per_minute":${row.text}}`);
    const rule = { when: metricsOfShop, fault: { kind: 'document', body } } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const counted = page
        .series(invalid, { account: 'production' })
        .filter((series) => page.value(invalid, series) === bench.faulty.faults.hits().length)
        .map(({ reason }) => reason);
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect((page.value(rpm, { ...shop, transaction_type: 'web' }) ?? NaN) + 0).toEqual(
        (row.value ?? NaN) + 0,
      );
      expect(counted).toEqual(row.reasons);
      expect(page.total(invalid)).toBe(row.reasons.length);
      expect(page.value('newrelic_application_poll_success', shop)).toBe(1);
    });
  });

  it.each([
    { what: 'no values', values: '{}' },
    { what: 'another value', values: '{"call_count":7}' },
    { what: 'a prototype with a value', values: '{"__proto__":{"requests_per_minute":7}}' },
    { what: 'a constructor with a value', values: '{"constructor":{"requests_per_minute":7}}' },
  ])('is absent, and not 0, where the vendor gives $what', async ({ values }) => {
    const fault = { kind: 'document', body: metricDataText(values) } as const;
    await withTimedFaults({ script: [{ when: metricsOfShop, fault }] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(page.series(rpm, shop)).toEqual([]);
      expect(page.total(invalid)).toBe(0);
      expect(page.value('newrelic_application_poll_success', shop)).toBe(1);
      expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('requests_per_minute');
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'is not taken from a metric called %s',
    async (name) => {
      const fault = {
        kind: 'document',
        body: metricDataText('{"requests_per_minute":7}', name),
      } as const;
      await withTimedFaults({ script: [{ when: metricsOfShop, fault }] }, async (bench) => {
        await bench.advance(30_000);
        const page = await bench.scrape();

        expect(bench.faulty.faults.hits()).toHaveLength(1);
        expect(page.series(rpm, shop)).toEqual([]);
        expect(page.value('newrelic_application_poll_success', shop)).toBe(1);
      });
    },
  );

  it('of the summary is left out where it makes no sense, without the rest', async () => {
    const more =
      '"reporting":"yes","health_status":7,"last_reported_at":"yesterday","application_summary":' +
      '{"throughput":-1,"response_time":1e999,"error_rate":"2","apdex_score":0.9,"apdex_target":null}';
    const text = applicationListText([
      { id: '101', name: '"shop"', hostIds: '1011', more },
      workerText,
    ]);
    const rule = { when: lists, fault: { kind: 'document', body: text } } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const summary = 'newrelic_application_summary_';
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(page.value(`${summary}apdex_score`, shop)).toBe(0.9);
      expect(page.series(`${summary}requests_per_minute`, shop)).toEqual([]);
      expect(page.series(`${summary}response_time_seconds`, shop)).toEqual([]);
      expect(page.series('newrelic_application_reporting', shop)).toEqual([]);
      expect(page.total(invalid, { account: 'production' })).toBe(4);
      expect(freshness(page, bench.clock)).toContain('production 101');
    });
  });
});

describe('a value that New Relic gives in milliseconds, percent or MiB', () => {
  it('is published in seconds, shares of one and bytes', async () => {
    const [seconds, share, bytes] = [1.5, 0.25, 3 * 1024 * 1024];
    const expected = new Map<ValueName, readonly [given: number, published: number]>([
      ['average_response_time', [1500, seconds]],
      ['min_response_time', [1500, seconds]],
      ['max_response_time', [1500, seconds]],
      ['standard_deviation', [1500, seconds]],
      ['average_call_time', [1500, seconds]],
      ['average_time', [1500, seconds]],
      ['average_exclusive_time', [1500, seconds]],
      ['total_time', [1500, seconds]],
      ['as_percentage', [25, share]],
      ['percent', [25, share]],
      ['time_percentage', [25, share]],
      ['utilization', [25, share]],
      ['used_mb_by_host', [3, bytes]],
      ['total_used_mb', [3, bytes]],
      ['call_count', [1500, 1500]],
      ['average_value', [1500, 1500]],
    ]);
    const metrics = Array.from(expected.keys(), (value) => ({
      metric: 'Custom/all',
      value,
      as: `newrelic_application_${value}`,
      scale: 1,
      help: undefined,
      labels: {},
      scope: 'applications' as const,
    }));
    const given = Array.from(expected, ([value, [number]]) => [value, number] as const);
    const body = metricDataText(JSON.stringify(Object.fromEntries(given)), 'Custom/all');
    const rule = { when: metricsOfShop, fault: { kind: 'document', body } } as const;
    await withTimedFaults({ script: [rule], entries: [{ poll: { metrics } }] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const published = Array.from(expected.keys(), (value) => [
        value,
        page.value(`newrelic_application_${value}`, shop),
      ]);
      expect(published).toEqual(Array.from(expected, ([value, [, number]]) => [value, number]));
    });
  });
});

describe('an id', () => {
  it.each([
    { what: 'as a number', app: '9007199254740993', host: '9007199254740995' },
    { what: 'as a text', app: '"9007199254740993"', host: '"9007199254740995"' },
  ])('beyond 2^53 keeps every digit, $what', async ({ app, host }) => {
    const list = applicationListText([{ id: app, name: '"big"', hostIds: host }, workerText]);
    const ids = { app_id: '9007199254740993', host_id: '9007199254740995' };
    const script = [
      { when: lists, fault: { kind: 'document', body: list } },
      {
        when: { applicationId: ids.app_id },
        fault: { kind: 'document', body: metricDataText('{"requests_per_minute":7}') },
      },
    ] as const;
    await withTimedFaults({ script }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const paths = bench.faulty.faults.hits(script[1]).map(({ request }) => request.path);
      const root = `/v2/applications/${ids.app_id}`;
      expect(paths).toContain(`${root}/metrics/data.json`);
      expect(paths).toContain(`${root}/hosts/${ids.host_id}/metrics/data.json`);
      expect(page.value(hostRpm, ids)).toBe(7);
    });
  });

  it.each(['1.5', '-1', '1e400', 'null', '{}', '"../../secret"', '"1/2"', '" 1"', '"１"', '""'])(
    'that is none leaves the others alone and gets into no request: %s',
    async (id) => {
      const texts = [{ id, name: '"odd"', hostIds: `${id},1011` }, workerText];
      const rule = {
        when: lists,
        fault: { kind: 'document', body: applicationListText(texts) },
      } as const;
      await withTimedFaults({ script: [rule] }, async (bench) => {
        await bench.advance(30_000);
        const page = await bench.scrape();

        const paths = bench.faulty.simulator.journal.entries().map(({ path }) => path);
        expect(bench.faulty.faults.hits().length).toBeGreaterThan(0);
        expect(
          paths.filter((path) => !/^\/v2\/applications(?:\.json$|\/102\/)/.test(path)),
        ).toEqual([]);
        expect(freshness(page, bench.clock)).toContain('production 102');
      });
    },
  );

  it('that stands twice is one application, and a host that does is asked for once', async () => {
    const texts = [
      { id: '101', name: '"first"', hostIds: '1011,1012,1011,"1011"' },
      { id: '"101"', name: '"second"', hostIds: '1012' },
      workerText,
    ];
    const rule = {
      when: lists,
      fault: { kind: 'document', body: applicationListText(texts) },
    } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      const { journal } = bench.faulty.simulator;
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(page.series('newrelic_application_info', shop)).toMatchObject([{ app_name: 'first' }]);
      expect(journal.count(({ hostId }) => hostId === '1011')).toBe(1);
      expect(freshness(page, bench.clock)).toContain('production 101');
    });
  });
});

describe('5.2 a member of a list', () => {
  it('called __proto__ or constructor changes nothing but its own object', async () => {
    const more =
      '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"reporting":true';
    const texts = [{ id: '101', name: '"__proto__"', hostIds: '1011', more }, workerText];
    const rule = {
      when: lists,
      fault: { kind: 'document', body: applicationListText(texts) },
    } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect('polluted' in {}).toBe(false);
      expect(page.series('newrelic_application_info', shop)).toMatchObject([
        { app_name: '__proto__' },
      ]);
      expect(freshness(page, bench.clock)).toContain('production 101');
    });
  });

  it('may be 100,000 arrays in each other', async () => {
    const more = `"settings":${nestedText(100_000)},"reporting":true`;
    const texts = [{ id: '101', name: '"shop"', hostIds: '1011', more }, workerText];
    const rule = {
      when: lists,
      fault: { kind: 'document', body: applicationListText(texts) },
    } as const;
    await withTimedFaults({ script: [rule] }, async (bench) => {
      await bench.advance(30_000);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect(freshness(page, bench.clock)).toContain('production 101');
    });
  });
});
