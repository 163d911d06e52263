import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { startScraping } from '../support/scraping-prometheus.ts';
import { toolOrSkip } from '../support/tools.ts';

const prometheusTool = toolOrSkip('prometheus');

const configOf = (baseUrl: string): string => `
accounts:
  - { name: e2e, base_url: "${baseUrl}", api_key_file: api-key, source: nerdgraph, account_id: 1234567 }
poll: { tags: [team] }
apps:
  - match: "."
queries:
  - as: { d: e2e_duration_seconds, n: e2e_calls }
    nrql: SELECT percentile(duration, 50, 95) AS d, count(*) AS n FROM Transaction FACET appName
    constant_labels: { unit_test: "yes" }
  - as: e2e_broken
    nrql: SELECT count(*) FROM Transaction WHERE duration ~ 1
`;

const applications = [
  { id: 101, name: 'shop "eu" \\ web', kind: 'web', webRpm: 120, hosts: 2, tags: { team: 'red' } },
  { id: 102, name: 'worker', kind: 'other', otherRpm: 60, hosts: 1 },
  { id: 103, name: 'both', kind: 'both', webRpm: 30, otherRpm: 90, hosts: 3 },
] as const;

describe.skipIf(prometheusTool.skip)(
  `a real Prometheus that scrapes queries and tags${prometheusTool.note}`,
  () => {
    it('stores what is true of the simulated transactions', async () => {
      const simulator = createSimulator(
        {
          apiKeys: ['NRAK-E2E'],
          latencyMs: [5, 30],
          ingestDelayMs: 0,
          graphql: { accountId: 1_234_567 },
          fleet: { traffic: 'flat', applications },
        },
        { clock: createSystemClock() },
      );
      const { baseUrl } = await simulator.start();
      const files = { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' };
      await withFiles(files, async (dir) => {
        const daemon = await startDaemon([`--config.file=${dir}/config.yaml`]);
        await until(async () => {
          const { text } = await get(`${daemon.url}/metrics`);
          return text.split('\nnewrelic_query_success{').length === 3 ? true : undefined;
        });
        const prometheus = await startScraping(prometheusTool.path, dir, { newrelic: daemon.url });
        const { query } = prometheus;
        try {
          // Durations are spread exponentially around the mean of the application.
          const truth = simulator.fleet.applications().flatMap((application) => {
            const { HttpDispatcher: web, 'OtherTransaction/all': other } =
              application.ratesPerMinute;
            const mean = application.responseTimeMs / 1000;
            return [
              [`${application.name} n`, 5 * (web + other)],
              [`${application.name} 0.5`, mean * Math.LN2],
              [`${application.name} 0.95`, mean * Math.log(20)],
            ] as const;
          });
          const stored = [
            ...(await query('e2e_calls{unit_test="yes"}')),
            ...(await query('e2e_duration_seconds{unit_test="yes"}')),
          ].map(
            ({ metric, value }) =>
              [`${metric['app_name']} ${metric['quantile'] ?? 'n'}`, value] as const,
          );
          expect(stored.map(([name]) => name).toSorted()).toEqual(
            truth.map(([name]) => name).toSorted(),
          );
          for (const [name, value] of stored) {
            expect(value).toBeCloseTo(
              truth.find(([known]) => known === name)?.[1] ?? Number.NaN,
              6,
            );
          }
          const success = await query('newrelic_query_success');
          expect(
            success.map(({ metric, value }) => `${metric['query']} ${value}`).toSorted(),
          ).toEqual(['e2e_broken 0', 'e2e_duration_seconds 1']);
          const tagged = await query('newrelic_application_requests_per_minute{team="red"}');
          expect(tagged.map(({ metric }) => metric['app_id'])).toEqual(['101']);
          expect(await query('{__name__=~".+", team!="red", app_id="101"}')).toEqual([]);
          const targets = JSON.parse((await get(`${daemon.url}/api/v1/targets`)).text);
          expect(targets.data.queries).toMatchObject([
            { query: 'e2e_broken', state: 'failing', reason: 'client', rows: null },
            { query: 'e2e_duration_seconds', state: 'up', rows: 3, series: 9, callsPerMinute: 1 },
          ]);
          const page = (await get(`${daemon.url}/`)).text;
          expect(page).toContain('correct it in &quot;queries&quot;');
          expect(page).toContain('percentile(duration, 50, 95)');
        } finally {
          await prometheus.stop();
          await stopProgram(daemon);
        }
      });
      await simulator.stop();
    });
  },
);
