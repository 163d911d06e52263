import { describe, expect, it } from 'vitest';
import { failureReasons } from '../../src/model/api-error.ts';
import { invalidSampleReasons, operations } from '../../src/model/telemetry.ts';
import { toOpenMetrics } from '../../src/publish/page.ts';
import {
  type ParsedFamily,
  parseExposition,
  parseOpenMetrics,
} from '../support/exposition-parser.ts';
import { aQueryStatus } from '../support/status-source.ts';
import { anAccountStatus, missingMetric } from './account-status.ts';
import {
  aFixture,
  complaintsOfPromtool,
  prefix,
  promtool,
  seriesOf,
  valueOf,
} from './self-metrics-fixture.ts';

describe('the families', () => {
  it('include those of the process and of Node.js, but not the misnamed ones and those that may be NaN', () => {
    const { metrics } = aFixture();

    const misnamed = metrics.metricNames.filter((name) => /^nodejs_active_.*_total$/.test(name));
    expect(misnamed).toEqual([]);
    expect(metrics.metricNames.filter((name) => name.includes('eventloop'))).toEqual([
      'nodejs_eventloop_lag_seconds',
      'nodejs_eventloop_lag_max_seconds',
      'nodejs_eventloop_lag_p50_seconds',
      'nodejs_eventloop_lag_p90_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]);
  });

  it('all appear in the text, without blank lines, which OpenMetrics forbids', async () => {
    const { metrics } = aFixture();

    const text = await metrics.text();

    const typed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => String(name));
    expect(typed.toSorted()).toEqual(metrics.metricNames.toSorted());
    expect(text).not.toContain('\n\n');
    expect(text.endsWith('\n')).toBe(true);
  });

  it('are the same series in both formats', async () => {
    const { metrics } = aFixture([anAccountStatus({ missingSelectors: ['match=^a"\\.b$'] })]);
    metrics.apiObserver('production').ended('list_hosts', '200', 0.2);
    metrics.pollObserver('production').polled(2, false);

    const text = await metrics.text();

    const samplesIn = (families: readonly ParsedFamily[]): readonly unknown[] =>
      families.flatMap(({ samples }) => samples);
    const open = parseOpenMetrics(Buffer.from(toOpenMetrics(text)));
    expect(samplesIn(open)).toEqual(samplesIn(parseExposition(Buffer.from(text))));
  });

  it.skipIf(promtool.skip)(`pass promtool check metrics${promtool.note}`, async () => {
    const { metrics } = aFixture([anAccountStatus({ missingSelectors: ['match=^a"\\.b$'] })]);
    metrics.apiObserver('production').ended('list_hosts', '404', 0.2);
    metrics.pollObserver('production').polled(1, false);
    metrics.configReloaded(true, 1_700_000_000_000);

    expect(complaintsOfPromtool(await metrics.text())).toBe('');
  });

  it.skipIf(promtool.skip)(`would not pass with a misnamed gauge${promtool.note}`, () => {
    const complaints = complaintsOfPromtool('# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n');

    expect(complaints).toContain('a_total');
  });
});

describe('the constants', () => {
  it('name the build and the only shard, until it has others', async () => {
    const { metrics } = aFixture();
    const text = await metrics.text();
    metrics.sharded({ ordinal: 1, total: 3 });

    const labels = 'version="1.2.3",revision="abc1234",node_version="v24.0.0"';
    expect(valueOf(text, `${prefix}build_info{${labels}}`)).toBe(1);
    expect(valueOf(text, `${prefix}shard`)).toBe(0);
    expect(valueOf(text, `${prefix}total_shards`)).toBe(1);
    expect(valueOf(await metrics.text(), `${prefix}total_shards`)).toBe(3);
  });
});

describe('configReloaded', () => {
  it('keeps the time of the last success when a later reload fails', async () => {
    const { metrics } = aFixture();

    metrics.configReloaded(true, 1_700_000_000_500);
    metrics.configReloaded(false, 1_700_000_100_000);

    const text = await metrics.text();
    expect(valueOf(text, `${prefix}config_last_reload_successful`)).toBe(0);
    expect(valueOf(text, `${prefix}config_last_reload_success_timestamp_seconds`)).toBe(
      1_700_000_000.5,
    );
  });
});

describe('a new account', () => {
  it('has every counter whose labels are known, at 0, and no bucket before its first call', async () => {
    const { metrics } = aFixture();

    metrics.apiObserver('production');

    const text = await metrics.text();
    const account = 'account="production"';
    const expected = [
      ...operations.flatMap((operation) => [
        `api_requests_total{${account},operation="${operation}",code="200"}`,
        `api_request_retries_total{${account},operation="${operation}",reason="timeout"}`,
        ...failureReasons.map(
          (reason) =>
            `api_request_failures_total{${account},operation="${operation}",reason="${reason}"}`,
        ),
      ]),
      ...invalidSampleReasons.map(
        (reason) => `invalid_samples_total{${account},reason="${reason}"}`,
      ),
      `api_throttled_total{${account}}`,
      `polls_total{${account}}`,
      `polls_failed_total{${account}}`,
      `polls_skipped_total{${account}}`,
    ];
    expect(text).not.toContain('_bucket{account=');
    expect(expected.map((series) => [series, valueOf(text, prefix + series)])).toEqual(
      expected.map((series) => [series, 0]),
    );
  });
});

describe('an observer', () => {
  it('counts what it is told', async () => {
    const { metrics } = aFixture();
    const api = metrics.apiObserver('production');
    const poll = metrics.pollObserver('production');
    await metrics.text();

    api.started('list_hosts');
    api.ended('list_hosts', '503', 0.25);
    api.failed('list_hosts', 'server');
    api.retried('list_hosts', 'server');
    api.throttled();
    api.invalidSample('negative');
    api.unexpected('values_missing', 2);
    poll.polled(2, true);
    poll.polled(3, false);
    poll.skipped(4);

    const text = await metrics.text();
    const account = 'account="production"';
    const call = `${account},operation="list_hosts"`;
    expect({
      requests: valueOf(text, `${prefix}api_requests_total{${call},code="503"}`),
      failures: valueOf(text, `${prefix}api_request_failures_total{${call},reason="server"}`),
      retries: valueOf(text, `${prefix}api_request_retries_total{${call},reason="server"}`),
      fast: valueOf(text, `${prefix}api_request_duration_seconds_bucket{le="0.2",${call}}`),
      slow: valueOf(text, `${prefix}api_request_duration_seconds_bucket{le="0.3",${call}}`),
      throttled: valueOf(text, `${prefix}api_throttled_total{${account}}`),
      invalid: valueOf(text, `${prefix}invalid_samples_total{${account},reason="negative"}`),
      unexpected: valueOf(
        text,
        `${prefix}unexpected_answers_total{${account},kind="values_missing"}`,
      ),
      polls: valueOf(text, `${prefix}polls_total{${account}}`),
      failed: valueOf(text, `${prefix}polls_failed_total{${account}}`),
      skipped: valueOf(text, `${prefix}polls_skipped_total{${account}}`),
      seconds: valueOf(text, `${prefix}poll_duration_seconds_sum{${account}}`),
    }).toEqual({
      requests: 1,
      failures: 1,
      retries: 1,
      fast: 0,
      slow: 1,
      throttled: 1,
      invalid: 1,
      unexpected: 2,
      polls: 2,
      failed: 1,
      skipped: 4,
      seconds: 5,
    });
  });
});

describe('a removed account', () => {
  it('leaves no series behind, even if a call ends late, and the others stay', async () => {
    const { metrics, setStatus } = aFixture([
      anAccountStatus(),
      anAccountStatus({ name: 'staging', missingSelectors: ['id=1'] }),
    ]);
    const api = metrics.apiObserver('staging');
    const poll = metrics.pollObserver('staging');
    metrics.apiObserver('production').ended('list_hosts', '418', 1);
    api.ended('list_hosts', '418', 1);
    await metrics.text();

    setStatus([anAccountStatus()]);
    metrics.removeAccount('staging');
    api.ended('list_hosts', '200', 1);
    api.failed('list_hosts', 'server');
    api.retried('list_hosts', 'server');
    api.throttled();
    api.invalidSample('negative');
    poll.polled(1, true);
    poll.skipped(1);

    const text = await metrics.text();
    expect(text).not.toContain('staging');
    expect(text).toContain('account="production",operation="list_hosts",code="418"');
  });
});

describe('the mirrored state', () => {
  it('is read when the text is asked for', async () => {
    const { metrics, setStatus } = aFixture();
    await metrics.text();

    setStatus([
      anAccountStatus({
        requestsInFlight: 7,
        budgetRequestsPerMinute: 500,
        demandRequestsPerMinute: 1000,
        pollIntervalSeconds: 120,
        backoffUntilMs: 1_700_000_000_250,
      }),
    ]);

    const text = await metrics.text();
    expect({
      inFlight: valueOf(text, `${prefix}api_requests_in_flight{account="production"}`),
      budget: valueOf(text, `${prefix}api_budget_requests_per_minute{account="production"}`),
      demand: valueOf(text, `${prefix}api_demand_requests_per_minute{account="production"}`),
      interval: valueOf(text, `${prefix}poll_interval_seconds{account="production"}`),
      backoff: valueOf(text, `${prefix}api_backoff_until_timestamp_seconds{account="production"}`),
      series: valueOf(text, `${prefix}series{account="production"}`),
      dropped: valueOf(
        text,
        `${prefix}series_dropped_total{account="production",reason="duplicate"}`,
      ),
    }).toEqual({
      inFlight: 7,
      budget: 500,
      demand: 1000,
      interval: 120,
      backoff: 1_700_000_000.25,
      series: 10,
      dropped: 20,
    });
  });

  it('says how many applications there are, when they were listed, and whether the key can be read', async () => {
    const { metrics, setStatus } = aFixture();
    const shown = async (): Promise<readonly unknown[]> => {
      const text = await metrics.text();
      return [
        'applications{account="production",state="listed"}',
        'applications{account="production",state="selected"}',
        'discovery_last_success_timestamp_seconds{account="production"}',
        'api_key_readable{account="production"}',
        'api_key_last_change_timestamp_seconds{account="production"}',
      ].map((series) => valueOf(text, prefix + series));
    };
    const healthy = await shown();
    const { key } = anAccountStatus();
    setStatus([
      anAccountStatus({
        applications: 0,
        listedApplications: undefined,
        lastDiscoveryMs: undefined,
        key: { ...key, problem: 'no such file' },
      }),
    ]);
    const unhealthy = await shown();

    expect(healthy).toEqual([316, 3, 1_700_000_000.5, 1, 1_690_000_000.25]);
    expect(unhealthy).toEqual([undefined, 0, 0, 0, 1_690_000_000.25]);
  });

  it('forgets a selector as soon as it matches something', async () => {
    const { metrics, setStatus } = aFixture([
      anAccountStatus({ missingSelectors: ['id=1', 'name=Shop'] }),
    ]);
    const before = await metrics.text();

    setStatus([anAccountStatus({ missingSelectors: ['name=Shop'] })]);

    const after = await metrics.text();
    const shop = `${prefix}app_missing{account="production",selector="name=Shop"}`;
    expect(seriesOf(before, `${prefix}app_missing`)).toHaveLength(2);
    expect(seriesOf(after, `${prefix}app_missing`)).toEqual([shop]);
    expect(valueOf(after, shop)).toBe(1);
  });

  it('names each missing entry, metric and query once, and at most a thousand of an account', async () => {
    const missingSelectors = Array.from({ length: 3000 }, (_, index) => `id=${index % 2000}`);
    const metric = 'Custom/Queue "Depth"'.padEnd(10_000, 'x');
    const missingMetrics = Array.from({ length: 3000 }, (_, index) => ({
      ...missingMetric,
      metric,
      name: `x_${index}`,
    }));
    const queries = Array.from({ length: 3000 }, (_, index) =>
      aQueryStatus(`q_${index}`, 'up', index % 2 === 0 ? {} : { missing: 'it has no rows' }),
    );
    const text = await aFixture([
      anAccountStatus({ missingSelectors, missingMetrics, queries }),
    ]).metrics.text();

    const metrics = seriesOf(text, `${prefix}metric_missing`);
    expect(seriesOf(text, `${prefix}app_missing`)).toHaveLength(1000);
    expect(metrics).toHaveLength(1000);
    const queriesNamed = seriesOf(text, `${prefix}query_missing`);
    expect(queriesNamed).toHaveLength(1000);
    expect(queriesNamed[0]).toContain('query="q_1"');
    expect(metrics[0]).toContain(
      String.raw`selector="match=^checkout",name="x_0",metric="Custom/Queue \"Depth\"xxx`,
    );
    expect(metrics.filter((line) => line.length > 500)).toEqual([]);
  });
});

describe('scraped', () => {
  it('counts by the status of the answer; those that are expected exist at 0 from the start', async () => {
    const { metrics } = aFixture();
    const before = await metrics.text();
    for (const status of [200, 503, 200, 405]) metrics.scraped(status);
    const after = await metrics.text();

    const counts = (text: string): readonly string[] =>
      ['200', '401', '405', '500', '503'].map(
        (code) => `${code}: ${valueOf(text, `${prefix}scrape_requests_total{code="${code}"}`)}`,
      );
    expect(counts(before)).toEqual(['200: 0', '401: 0', '405: undefined', '500: 0', '503: 0']);
    expect(counts(after)).toEqual(['200: 2', '401: 0', '405: 1', '500: 0', '503: 1']);
  });
});
