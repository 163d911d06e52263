import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { type Sample, startScraping } from '../support/scraping-prometheus.ts';
import { toolOrSkip } from '../support/tools.ts';

const prometheusTool = toolOrSkip('prometheus');
const apiKey = 'NRAK-E2E';
const presets = 'throughput, response_time, errors, apdex, database, external, memory, cpu';

/** What each gauge must be, worked out here from the vendor's own answer: metric, value, factor. */
const gauges: Readonly<Record<string, readonly [metric: string, value: string, factor: number]>> = {
  'requests_per_minute web': ['HttpDispatcher', 'requests_per_minute', 1],
  'requests_per_minute other': ['OtherTransaction/all', 'requests_per_minute', 1],
  'response_time_seconds web': ['HttpDispatcher', 'average_response_time', 0.001],
  'response_time_seconds other': ['OtherTransaction/all', 'average_response_time', 0.001],
  'errors_per_minute web': ['Errors/allWeb', 'errors_per_minute', 1],
  'errors_per_minute other': ['Errors/allOther', 'errors_per_minute', 1],
  apdex_score: ['Apdex', 'score', 1],
  'database_calls_per_minute web': ['Datastore/allWeb', 'requests_per_minute', 1],
  'database_calls_per_minute other': ['Datastore/allOther', 'requests_per_minute', 1],
  'database_response_time_seconds web': ['Datastore/allWeb', 'average_response_time', 0.001],
  'database_response_time_seconds other': ['Datastore/allOther', 'average_response_time', 0.001],
  external_calls_per_minute: ['External/all', 'requests_per_minute', 1],
  external_response_time_seconds: ['External/all', 'average_response_time', 0.001],
  memory_used_bytes: ['Memory/Physical', 'used_bytes_by_host', 1],
  cpu_usage_ratio: ['CPU/User Time', 'percent', 0.01],
  queue_time_seconds: ['WebFrontend/QueueTime', 'average_response_time', 0.001],
};

const configOf = (baseUrl: string): string => `
accounts:
  - { name: rest, base_url: "${baseUrl}", api_key_file: api-key }
  - { name: nerdgraph, base_url: "${baseUrl}", api_key_file: api-key, source: nerdgraph, account_id: 1234567 }
poll:
  window: 5m
  raw: true
  metrics:
    - throughput
${presets
  .split(', ')
  .slice(1)
  .map((name) => `    - ${name}`)
  .join('\n')}
    - metric: WebFrontend/QueueTime
      value: average_response_time
      as: newrelic_application_queue_time_seconds
apps:
  - { match: ".", account: rest }
  - { match: ".", account: nerdgraph }
`;

interface MetricData {
  readonly metric_data: {
    readonly metrics: readonly {
      readonly name: string;
      readonly timeslices: readonly { readonly values: Readonly<Record<string, number>> }[];
    }[];
  };
}

/** The series by gauge and transaction type, such as `response_time_seconds web`. */
function byGauge(samples: readonly Sample[], prefix: string): ReadonlyMap<string, number> {
  return new Map(
    samples.map(({ metric, value }) => {
      const name = (metric['__name__'] ?? '').replace(prefix, '');
      return [[name, metric['transaction_type'] ?? ''].join(' ').trim(), value];
    }),
  );
}

describe.skipIf(prometheusTool.skip)(
  `all presets in a real Prometheus${prometheusTool.note}`,
  () => {
    it('has every value that New Relic has, from both APIs, for applications and hosts', async () => {
      const simulator = createSimulator(
        {
          apiKeys: [apiKey],
          ingestDelayMs: 0,
          fleet: {
            // So many calls that each host has errors: NerdGraph has no 0 of what was never seen.
            applications: [
              { id: 101, name: 'shop', kind: 'both', webRpm: 60_000, otherRpm: 9000, hosts: 3 },
              { id: 102, name: 'worker', kind: 'other', otherRpm: 6000, hosts: 1 },
            ],
          },
        },
        { clock: createSystemClock() },
      );
      const { baseUrl } = await simulator.start();
      /** What the vendor says, asked for one metric at a time. */
      const told = async (
        path: string,
        toSeconds: number,
      ): Promise<ReadonlyMap<string, number>> => {
        const found = new Map<string, number>();
        for (const [gauge, [metric, value, factor]] of Object.entries(gauges)) {
          const [from, to] = [toSeconds - 300, toSeconds].map((at) =>
            new Date(1000 * at).toISOString(),
          );
          const query = new URLSearchParams({
            'names[]': metric,
            'values[]': value,
            summarize: 'true',
            raw: 'true',
            from: from ?? '',
            to: to ?? '',
          });
          const answer = await fetch(
            `${baseUrl}/v2/applications/${path}/metrics/data.json?${query.toString()}`,
            {
              headers: { 'Api-Key': apiKey, accept: 'application/json' },
            },
          );
          const { metric_data: data } = (await answer.json()) as MetricData;
          const number = data.metrics[0]?.timeslices[0]?.values[value];
          if (number !== undefined) found.set(gauge, number * factor);
        }
        return found;
      };
      await withFiles(
        { 'config.yaml': configOf(baseUrl), 'api-key': `${apiKey}\n` },
        async (dir) => {
          const daemon = await startDaemon([`--config.file=${dir}/config.yaml`]);
          await until(async () =>
            (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined,
          );
          const prometheus = await startScraping(prometheusTool.path, dir, {
            newrelic: daemon.url,
          });
          try {
            const gaugeNames = Object.keys(gauges).map((gauge) => gauge.split(' ')[0]);
            const anyGauge = [...new Set(gaugeNames)].join('|');
            const ofBoth: Record<string, unknown>[] = [];
            for (const account of ['rest', 'nerdgraph']) {
              for (const application of simulator.fleet.applications()) {
                const id = `account="${account}",app_id="${application.id}"`;
                const [end] = await prometheus.query(
                  `newrelic_application_window_end_timestamp_seconds{${id}}`,
                );
                const toSeconds = end?.value ?? 0;
                const shown = byGauge(
                  await prometheus.query(`{__name__=~"newrelic_application_(${anyGauge})",${id}}`),
                  'newrelic_application_',
                );
                const truth = await told(`${application.id}`, toSeconds);
                expect([...shown.keys()].toSorted()).toEqual([...truth.keys()].toSorted());
                for (const [gauge, value] of truth) {
                  expect(shown.get(gauge), `${account} ${application.id} ${gauge}`).toBeCloseTo(
                    value,
                    6,
                  );
                }
                const [host] = application.hosts.values();
                const hostSamples = await prometheus.query(
                  `{__name__=~"newrelic_application_host_(${anyGauge})",host_name="${host?.name}",${id}}`,
                );
                const ofHost = byGauge(hostSamples, 'newrelic_application_host_');
                const truthOfHost = await told(`${application.id}/hosts/${host?.id}`, toSeconds);
                expect([...ofHost.keys()].toSorted()).toEqual([...truthOfHost.keys()].toSorted());
                for (const [gauge, value] of truthOfHost) {
                  expect(ofHost.get(gauge), `${account} ${host?.name} ${gauge}`).toBeCloseTo(
                    value,
                    6,
                  );
                }
                ofBoth.push({ id: application.id, shown: shown.size, ofHost: ofHost.size });
              }
            }
            expect(ofBoth.slice(0, 2)).toEqual(ofBoth.slice(2));
            expect(ofBoth[0]).toEqual({ id: 101, shown: 16, ofHost: 16 });

            const [ratio] = await prometheus.query(
              'newrelic_application_errors_per_minute{app_id="101",account="rest",transaction_type="web"}' +
                ' / newrelic_application_requests_per_minute',
            );
            expect(ratio?.value).toBeGreaterThan(0);
            expect(ratio?.value).toBeLessThan(1);
            expect(simulator.violations()).toBe(0);
          } finally {
            await prometheus.stop();
            await stopProgram(daemon);
            await simulator.stop();
          }
        },
      );
    });
  },
);
