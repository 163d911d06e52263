import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { failureReasons } from '../../src/model/api-error.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { invalidSampleReasons, operationNames } from '../../src/model/telemetry.ts';
import { toOpenMetrics } from '../../src/publish/page.ts';
import { createSelfMetrics, type SelfMetrics } from '../../src/publish/self-metrics.ts';
import {
  type ParsedFamily,
  parseExposition,
  parseOpenMetrics,
} from '../support/exposition-parser.ts';
import { aQueryStatus } from '../support/status-source.ts';
import { toolOrSkip } from '../support/tools.ts';
import { anAccountStatus, missingMetric } from './account-status.ts';

interface Bench {
  readonly metrics: SelfMetrics;
  readonly setStatus: (statuses: readonly AccountDetails[]) => void;
  /** The values of these series of the exporter's own, written as in the text but for their prefix. */
  readonly values: (...series: readonly string[]) => Promise<readonly (number | undefined)[]>;
}

/** Self-metrics of accounts that are in the given states. */
function aBench(...initial: readonly AccountDetails[]): Bench {
  let statuses = initial;
  const metrics = createSelfMetrics(
    { version: '1.2.3', revision: 'abc1234', nodeVersion: 'v24.0.0' },
    {
      status: () => statuses,
      seriesOf: (account) => account.length,
      droppedSeriesOf: (account) => account.length * 2,
      nextTurn: async () => undefined,
    },
  );
  return {
    metrics,
    setStatus: (changed) => {
      statuses = changed;
    },
    values: async (...series) => {
      const lines = (await metrics.text()).split('\n');
      return series
        .map((one) => {
          const start = `newrelic_exporter_${one} `;
          return lines.find((line) => line.startsWith(start))?.slice(start.length);
        })
        .map((value) => (value === undefined ? undefined : Number(value)));
    },
  };
}

/** All series of one metric of the exporter, without their values. */
function seriesOf(text: string, metric: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`newrelic_exporter_${metric}{`))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));
}

const promtool = toolOrSkip('promtool');

/** What `promtool check metrics` complains about: empty if all is well. */
function complaintsOfPromtool(text: string): string {
  const result = spawnSync(promtool.path, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return `${result.stdout}${result.stderr}`.trim();
}

describe('the families', () => {
  it('include those of the process and of Node.js, but not the misnamed ones and those that may be NaN', () => {
    const { metricNames } = aBench().metrics;

    expect(metricNames.filter((name) => /^nodejs_active_.*_total$/.test(name))).toEqual([]);
    expect(metricNames.filter((name) => name.includes('eventloop'))).toEqual([
      'nodejs_eventloop_lag_seconds',
      'nodejs_eventloop_lag_max_seconds',
      'nodejs_eventloop_lag_p50_seconds',
      'nodejs_eventloop_lag_p90_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]);
  });

  it('all appear in the text, without blank lines, which OpenMetrics forbids', async () => {
    const { metrics } = aBench(anAccountStatus());

    const text = await metrics.text();

    const typed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => String(name));
    expect(typed.toSorted()).toEqual(metrics.metricNames.toSorted());
    expect(text).not.toContain('\n\n');
    expect(text.endsWith('\n')).toBe(true);
  });

  it('are the same series in both formats', async () => {
    const { metrics } = aBench(anAccountStatus({ missingSelectors: ['match=^a"\\.b$'] }));
    metrics.apiObserver('production').ended('list_hosts', '200', 0.2);
    metrics.pollObserver('production').polled(2, false);

    const text = await metrics.text();

    const samplesIn = (families: readonly ParsedFamily[]): readonly unknown[] =>
      families.flatMap(({ samples }) => samples);
    const open = parseOpenMetrics(Buffer.from(toOpenMetrics(text)));
    expect(samplesIn(open)).toEqual(samplesIn(parseExposition(Buffer.from(text))));
  });

  it.skipIf(promtool.skip)(`pass promtool check metrics${promtool.note}`, async () => {
    const { metrics } = aBench(anAccountStatus({ missingSelectors: ['match=^a"\\.b$'] }));
    metrics.apiObserver('production').ended('list_hosts', '404', 0.2);
    metrics.pollObserver('production').polled(1, false);
    metrics.configReloaded(true, 1_700_000_000_000);

    expect(complaintsOfPromtool(await metrics.text())).toBe('');
    expect(complaintsOfPromtool('# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n')).toContain(
      'a_total',
    );
  });
});

describe('the program', () => {
  it('names its build and the only shard, until it has others', async () => {
    const { metrics, values } = aBench();
    const build = 'build_info{version="1.2.3",revision="abc1234",node_version="v24.0.0"}';
    const before = await values(build, 'shard', 'total_shards');
    metrics.sharded({ ordinal: 1, total: 3 });

    expect(before).toEqual([1, 0, 1]);
    expect(await values('shard', 'total_shards')).toEqual([1, 3]);
  });

  it('keeps the time of the last reload that succeeded when a later one fails', async () => {
    const { metrics, values } = aBench();

    metrics.configReloaded(true, 1_700_000_000_500);
    metrics.configReloaded(false, 1_700_000_100_000);

    expect(
      await values('config_last_reload_successful', 'config_last_reload_success_timestamp_seconds'),
    ).toEqual([0, 1_700_000_000.5]);
  });

  it('counts scrapes by the status of the answer; those that are expected begin at 0', async () => {
    const { metrics, values } = aBench();
    const codes = ['200', '401', '405', '500', '503'].map(
      (code) => `scrape_requests_total{code="${code}"}`,
    );
    const before = await values(...codes);
    for (const status of [200, 503, 200, 405]) metrics.scraped(status);

    expect(before).toEqual([0, 0, undefined, 0, 0]);
    expect(await values(...codes)).toEqual([2, 0, 1, 0, 1]);
  });
});

describe('a new account', () => {
  it('has every counter whose labels are known, at 0, and no bucket before its first call', async () => {
    const { metrics, values } = aBench();

    metrics.beginAccount('production', operationNames);

    const account = 'account="production"';
    const expected = [
      ...operationNames.flatMap((operation) => [
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
    expect(await metrics.text()).not.toContain('_bucket{account=');
    expect(await values(...expected)).toEqual(expected.map(() => 0));
  });

  it('has none of what it is not asked for, until it is', async () => {
    const { metrics } = aBench();

    metrics.beginAccount('production', ['list_applications', 'application_metrics']);
    const before = await metrics.text();
    metrics.beginAccount('production', ['list_applications', 'query']);
    const after = await metrics.text();

    const unasked = /operation="query"|reason="(?:absent|duplicate)"/u;
    expect(before).not.toMatch(/operation="(?:list_hosts|host_metrics)"/u);
    expect(before.replaceAll(/^newrelic_exporter_series.*$/gmu, '')).not.toMatch(unasked);
    expect(after).toContain('operation="query",code="200"} 0');
    expect(after).toContain('invalid_samples_total{account="production",reason="absent"} 0');
  });
});

describe('an observer', () => {
  it('counts what it is told', async () => {
    const { metrics, values } = aBench();
    const api = metrics.apiObserver('production');
    const poll = metrics.pollObserver('production');
    await metrics.text();

    api.started('list_hosts');
    api.ended('list_hosts', '503', 0.3);
    api.failed('list_hosts', 'server');
    api.retried('list_hosts', 'server');
    api.throttled();
    api.invalidSample('negative');
    api.unexpected('values_missing', 2);
    poll.polled(2, true);
    poll.polled(3, false);
    poll.skipped(4);

    const account = 'account="production"';
    const call = `${account},operation="list_hosts"`;
    const expected = {
      [`api_requests_total{${call},code="503"}`]: 1,
      [`api_request_failures_total{${call},reason="server"}`]: 1,
      [`api_request_retries_total{${call},reason="server"}`]: 1,
      [`api_request_duration_seconds_bucket{le="0.25",${call}}`]: 0,
      [`api_request_duration_seconds_bucket{le="0.5",${call}}`]: 1,
      [`api_throttled_total{${account}}`]: 1,
      [`invalid_samples_total{${account},reason="negative"}`]: 1,
      [`unexpected_answers_total{${account},kind="values_missing"}`]: 2,
      [`polls_total{${account}}`]: 2,
      [`polls_failed_total{${account}}`]: 1,
      [`polls_skipped_total{${account}}`]: 4,
      [`poll_duration_seconds_sum{${account}}`]: 5,
    };
    expect(await values(...Object.keys(expected))).toEqual(Object.values(expected));
  });
});

describe('a removed account', () => {
  it('leaves no series behind, even if a call ends late, and the others stay', async () => {
    const { metrics, setStatus } = aBench(
      anAccountStatus(),
      anAccountStatus({ name: 'staging', missingSelectors: ['id=1'] }),
    );
    const api = metrics.apiObserver('staging');
    const poll = metrics.pollObserver('staging');
    metrics.apiObserver('production').ended('list_hosts', '418', 1);
    api.ended('list_hosts', '418', 1);
    await metrics.text();

    setStatus([anAccountStatus()]);
    metrics.removeAccount('staging');
    const atOnce = await metrics.text();
    api.ended('list_hosts', '200', 1);
    api.failed('list_hosts', 'server');
    api.retried('list_hosts', 'server');
    api.throttled();
    api.invalidSample('negative');
    poll.polled(1, true);
    poll.skipped(1);

    const text = await metrics.text();
    expect(atOnce).not.toContain('staging');
    expect(text).not.toContain('staging');
    expect(text).toContain('account="production",operation="list_hosts",code="418"');
  });

  it('counts again when it is back', async () => {
    const { metrics, values } = aBench();
    metrics.apiObserver('staging').throttled();
    metrics.removeAccount('staging');
    await metrics.text();
    metrics.beginAccount('staging', operationNames);
    metrics.apiObserver('staging').throttled();

    expect(await values('api_throttled_total{account="staging"}')).toEqual([1]);
  });
});

describe('the state of an account', () => {
  it('is read when the text is asked for', async () => {
    const { metrics, setStatus, values } = aBench(anAccountStatus());
    await metrics.text();

    setStatus([
      anAccountStatus({
        requestsInFlight: 7,
        budgetRequestsPerMinute: 500,
        demandRequestsPerMinute: 1000,
        pollIntervalSeconds: 120,
        configuredIntervalSeconds: 30,
        backoffUntilMs: 1_700_000_000_250,
      }),
    ]);

    const account = 'account="production"';
    const expected = {
      [`api_requests_in_flight{${account}}`]: 7,
      [`api_budget_requests_per_minute{${account}}`]: 500,
      [`api_demand_requests_per_minute{${account}}`]: 1000,
      [`poll_interval_seconds{${account}}`]: 120,
      [`poll_interval_configured_seconds{${account}}`]: 30,
      [`api_backoff_until_timestamp_seconds{${account}}`]: 1_700_000_000.25,
      [`series{${account}}`]: 10,
      [`series_dropped_total{${account},reason="duplicate"}`]: 20,
    };
    expect(await values(...Object.keys(expected))).toEqual(Object.values(expected));
  });

  it('says how many applications there are, when they were listed, and whether the key can be read', async () => {
    const { setStatus, values } = aBench(anAccountStatus());
    const series = [
      'applications{account="production",state="listed"}',
      'applications{account="production",state="selected"}',
      'discovery_last_success_timestamp_seconds{account="production"}',
      'api_key_readable{account="production"}',
      'api_key_last_change_timestamp_seconds{account="production"}',
    ];
    const healthy = await values(...series);
    const { key } = anAccountStatus();
    const unknown = { listedApplications: undefined, lastDiscoveryMs: undefined };
    setStatus([
      anAccountStatus({ ...unknown, applications: 0, key: { ...key, problem: 'no such file' } }),
    ]);

    expect(healthy).toEqual([316, 3, 1_700_000_000.5, 1, 1_690_000_000.25]);
    expect(await values(...series)).toEqual([undefined, 0, 0, 0, 1_690_000_000.25]);
  });

  it('forgets a selector as soon as it matches something', async () => {
    const { metrics, setStatus } = aBench(
      anAccountStatus({ missingSelectors: ['id=1', 'name=Shop'] }),
    );
    const before = await metrics.text();

    setStatus([anAccountStatus({ missingSelectors: ['name=Shop'] })]);

    const shop = 'newrelic_exporter_app_missing{account="production",selector="name=Shop"}';
    expect(seriesOf(before, 'app_missing')).toHaveLength(2);
    expect(seriesOf(await metrics.text(), 'app_missing')).toEqual([shop]);
    expect(before).toContain(`${shop} 1\n`);
  });

  it('names each missing entry, metric and query once, and at most a thousand of an account', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => index);
    const metric = 'Custom/Queue "Depth"'.padEnd(10_000, 'x');
    const text = await aBench(
      anAccountStatus({
        missingSelectors: many.map((index) => `id=${index % 2000}`),
        missingMetrics: many.map((index) => ({ ...missingMetric, metric, name: `x_${index}` })),
        queries: many.map((index) =>
          aQueryStatus(`q_${index}`, 'up', index % 2 === 0 ? {} : { missing: 'it has no rows' }),
        ),
      }),
    ).metrics.text();

    const names = ['app_missing', 'metric_missing', 'query_missing'];
    const [, metrics = [], queries = []] = names.map((name) => seriesOf(text, name));
    expect(names.map((name) => seriesOf(text, name).length)).toEqual([1000, 1000, 1000]);
    expect(queries[0]).toContain('query="q_1"');
    expect(metrics[0]).toContain(
      String.raw`selector="match=^checkout",name="x_0",metric="Custom/Queue \"Depth\"xxx`,
    );
    expect(metrics.filter((line) => line.length > 500)).toEqual([]);
  });
});
