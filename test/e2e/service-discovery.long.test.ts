import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { startPrometheus } from '../dashboards/prometheus.ts';
import {
  freePort,
  get,
  startDaemon,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const prometheusTool = toolOrSkip('prometheus');

const configOf = (baseUrl: string): string => `
accounts:
  - name: e2e
    base_url: ${baseUrl}
    api_key_file: api-key
poll: { interval: 10s, discovery_interval: 10s }
apps:
  - match: "."
`;

interface Target {
  readonly health: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Targets {
  readonly data: { readonly activeTargets: readonly Target[] };
}

describe.skipIf(prometheusTool.skip)(
  `a Prometheus that asks one shard for all of them${prometheusTool.note}`,
  () => {
    it('scrapes every shard, and keeps its targets when the shard that it asked is gone', async () => {
      const simulator = createSimulator(
        { apiKeys: ['NRAK-E2E'], latencyMs: [5, 30], fleet: { applications: 12, hosts: 24 } },
        { clock: createSystemClock() },
      );
      const { baseUrl } = await simulator.start();
      const port = await freePort();
      const files = { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' };
      await withFiles(files, async (directory) => {
        const daemons = await Promise.all(
          [0, 1].map(async (ordinal) =>
            startDaemon([
              `--config.file=${directory}/config.yaml`,
              '--total-shards=2',
              `--shard=${ordinal}`,
              `--web.listen-address=127.0.1${ordinal}.1:${port}`,
              `--web.shard-address=127.0.1{shard}.1:${port}`,
            ]),
          ),
        );
        const [asked] = daemons;
        await writeFile(
          join(directory, 'prometheus.yml'),
          `scrape_configs:
- job_name: newrelic
  scrape_interval: 1s
  http_sd_configs: [{ url: "${asked?.url}/api/v1/sd", refresh_interval: 1s }]
  relabel_configs:
  - source_labels: [__meta_newrelic_exporter_shard]
    target_label: shard
`,
        );
        const prometheus = await startPrometheus(prometheusTool.path, directory);
        const healths = async (): Promise<Readonly<Record<string, string>>> => {
          const { data } = (await prometheus.get('/api/v1/targets?state=active')) as Targets;
          return Object.fromEntries(
            data.activeTargets.map(({ health, labels }) => [
              `${labels['shard']} ${labels['instance']}`,
              health,
            ]),
          );
        };
        try {
          const before = await until(async () => {
            const all = await healths();
            const isUp = Object.values(all).every((health) => health === 'up');
            return isUp && Object.keys(all).length === 2 ? all : undefined;
          });
          const applications = await until(async () => {
            const { series } = await prometheus.query('count(newrelic_application_poll_success)');
            return series[0]?.values[0] === 12 ? 12 : undefined;
          });
          if (asked !== undefined) await stopProgram(asked);
          const after = await until(async () => {
            const all = await healths();
            return Object.values(all).includes('down') ? all : undefined;
          });
          await until(async () => (/refresh/iu.test(prometheus.log()) ? true : undefined));
          const kept = await healths();

          const addresses = [0, 1].map((shard) => `${shard} 127.0.1${shard}.1:${port}`);
          expect(before).toEqual({ [addresses[0] ?? '']: 'up', [addresses[1] ?? '']: 'up' });
          expect(applications).toBe(12);
          expect(after).toEqual({ [addresses[0] ?? '']: 'down', [addresses[1] ?? '']: 'up' });
          expect(kept).toEqual(after);
        } finally {
          await prometheus.stop();
          await Promise.all(daemons.map(stopProgram));
          await simulator.stop();
        }
      });
    });
  },
);

describe('a single daemon', () => {
  it('names itself to Prometheus, and its applications to everybody, without a key', async () => {
    const simulator = createSimulator(
      { apiKeys: ['NRAK-E2E'], fleet: { applications: 3, hosts: 6 } },
      { clock: createSystemClock() },
    );
    const { baseUrl } = await simulator.start();
    const files = { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' };
    await withFiles(files, async (directory) => {
      const daemon = await startDaemon([`--config.file=${directory}/config.yaml`]);
      try {
        await until(async () =>
          (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined,
        );
        const sd = await get(`${daemon.url}/api/v1/sd`);
        const targets = await get(`${daemon.url}/api/v1/targets`);
        const config = await get(`${daemon.url}/config`);

        expect(JSON.parse(sd.text)).toMatchObject([{ targets: [new URL(daemon.url).host] }]);
        const { data } = JSON.parse(targets.text) as Targets;
        expect(data.activeTargets.map(({ health }) => health)).toEqual(['up', 'up', 'up']);
        expect(config.text).toContain(`api_key_file: ${directory}/api-key`);
        expect([sd.text, targets.text, config.text].join('\n')).not.toContain('NRAK-E2E');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });
});
