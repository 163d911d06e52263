import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { startScraping } from '../support/scraping-prometheus.ts';
import { toolOrSkip } from '../support/tools.ts';

const prometheusTool = toolOrSkip('prometheus');

function aSimulator(): Simulator {
  return createSimulator(
    {
      apiKeys: ['NRAK-E2E'],
      latencyMs: [5, 30],
      ingestDelayMs: 0,
      fleet: {
        traffic: 'flat',
        applications: [
          { id: 101, name: 'shop "eu" \\ web', kind: 'web', webRpm: 120, hosts: 2 },
          {
            id: 102,
            name: 'worker',
            kind: 'other',
            otherRpm: 60,
            hosts: [{ id: 1021, name: 'w1' }],
          },
          { id: 103, name: 'both', kind: 'both', webRpm: 30, otherRpm: 90, hosts: 3 },
          { id: 104, name: 'silent', kind: 'not_reporting' },
        ],
      },
    },
    { clock: createSystemClock() },
  );
}

const configOf = (baseUrl: string): string => `
accounts:
  - name: e2e
    base_url: ${baseUrl}
    api_key_file: api-key
apps:
  - match: "."
    labels: { team: payments }
`;

describe.skipIf(prometheusTool.skip)(
  `a real Prometheus that scrapes the built daemon${prometheusTool.note}`,
  () => {
    it('stores what the vendor said, with our labels, and drops nothing', async () => {
      const simulator = aSimulator();
      const { baseUrl } = await simulator.start();
      await withFiles(
        { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' },
        async (dir) => {
          const daemon = await startDaemon([`--config.file=${dir}/config.yaml`]);
          await until(async () =>
            (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined,
          );
          const prometheus = await startScraping(prometheusTool.path, dir, {
            newrelic: daemon.url,
          });
          const { query } = prometheus;
          try {
            const applications = await query('newrelic_application_requests_per_minute');
            const hosts = await query(
              'sum by (app_id, transaction_type) (newrelic_application_host_requests_per_minute)',
            );
            const worker = await query(
              'newrelic_application_host_requests_per_minute{app_id="102"}',
            );
            const reporting = await query('newrelic_application_reporting{app_id="104"}');
            // The first collection of garbage of a kind adds series between two looks.
            await until(async () => {
              const { text } = await get(`${daemon.url}/metrics`);
              const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
              const [samples] = await query('scrape_samples_scraped{job="newrelic"}');
              return samples?.value === lines.length ? true : undefined;
            });

            // Only OpenMetrics names the family of a counter without its ending.
            const types = await prometheus.familyTypes();
            expect(types).toMatchObject({
              newrelic_exporter_polls: 'counter',
              newrelic_exporter_poll_duration_seconds: 'histogram',
              newrelic_up: 'gauge',
            });
            expect(types).not.toHaveProperty('newrelic_exporter_polls_total');
            // A scrape is counted once it is answered: the next one shows it.
            await until(async () => {
              const served = 'newrelic_exporter_scrape_requests_total{code="200"}';
              const [scrapes] = await query(served);
              return scrapes !== undefined && scrapes.value > 0 ? true : undefined;
            });
            const values = applications.map(
              ({ metric, value }) => `${metric['app_id']} ${metric['transaction_type']} ${value}`,
            );
            expect(values.toSorted()).toEqual([
              '101 web 120',
              '102 other 60',
              '103 other 90',
              '103 web 30',
            ]);
            const sums = hosts.map(({ metric, value }) => `${metric['app_id']} ${value}`);
            expect(sums.toSorted()).toEqual(['101 120', '102 60', '103 30', '103 90']);
            expect(worker.map(({ metric }) => metric)).toEqual([
              {
                __name__: 'newrelic_application_host_requests_per_minute',
                account: 'e2e',
                app_id: '102',
                app_name: 'worker',
                host_id: '1021',
                host_name: 'w1',
                transaction_type: 'other',
                team: 'payments',
                instance: new URL(daemon.url).host,
                job: 'newrelic',
              },
            ]);
            const shop = applications.find(({ metric }) => metric['app_id'] === '101');
            expect(shop?.metric['app_name']).toBe('shop "eu" \\ web');
            expect(reporting.map(({ value }) => value)).toEqual([0]);
            expect(prometheus.log()).not.toMatch(/num_dropped|level=warn|level=error/u);
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

describe('the page', () => {
  it('never holds the key, nor does the log or any other answer', async () => {
    const simulator = aSimulator();
    const { baseUrl } = await simulator.start();
    await withFiles({ 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' }, async (dir) => {
      const daemon = await startDaemon([`--config.file=${dir}/config.yaml`, '--log.level=debug']);
      try {
        await until(async () =>
          (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined,
        );
        const pages = await Promise.all(
          ['/', '/metrics', '/-/ready', '/-/healthy', '/api/v1/targets', '/config', '/nothing'].map(
            async (path) => (await get(`${daemon.url}${path}`)).text,
          ),
        );

        expect([...pages, daemon.stderr(), daemon.stdout()].join('\n')).not.toContain('NRAK');
        expect(daemon.child.spawnargs.join(' ')).not.toContain('NRAK');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });
});
