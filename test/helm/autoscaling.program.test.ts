import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { type Prometheus, startPrometheus } from '../dashboards/prometheus.ts';
import { readDocument } from '../docs/documents.ts';
import { expressionsIn } from '../docs/promtool-rule.ts';
import { type RunningDaemon, startDaemon, stopProgram, until } from '../support/daemon-process.ts';
import { goToolOrSkip } from '../support/go-tool.ts';
import { toolOrSkip } from '../support/tools.ts';
import { autoscaler, example, scaledObject } from './autoscalers.ts';

const run = promisify(execFile);
const prometheusTool = toolOrSkip('prometheus');
const adapter = goToolOrSkip('external-metrics');

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-autoscaling-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function written(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

const both = { kind: 'both', hosts: 1 } as const;

const configOf = (baseUrl: string): string => `
accounts:
  - name: production
    base_url: ${baseUrl}
    api_key_env: KEY
poll:
  metrics: [throughput, response_time]
apps:
  - match: "."
    hosts: false
`;

/** Two jobs with the same target stand for two exporters that publish the same applications. */
const prometheusConfig = (target: string): string => `
scrape_configs:
  - { job_name: one, scrape_interval: 1s, static_configs: [{ targets: ["${target}"] }] }
  - { job_name: two, scrape_interval: 1s, static_configs: [{ targets: ["${target}"] }] }
`;

describe.skipIf(prometheusTool.skip || adapter.skip)(
  `a Prometheus that scrapes the exporter${prometheusTool.note}${adapter.note}`,
  () => {
    let simulator: Simulator;
    let daemon: RunningDaemon;
    let prometheus: Prometheus;
    let adapterConfig: string;

    beforeAll(async () => {
      simulator = createSimulator(
        {
          apiKeys: ['NRAK-SCALE'],
          ingestDelayMs: 0,
          fleet: {
            traffic: 'flat',
            applications: [
              {
                ...both,
                id: 31_584_797,
                name: 'Checkout (production)',
                webRpm: 5000,
                otherRpm: 600,
              },
              { ...both, id: 1, name: 'Catalogue', webRpm: 100, otherRpm: 10 },
            ],
          },
        },
        { clock: createSystemClock() },
      );
      const config = configOf((await simulator.start()).baseUrl);
      daemon = await startDaemon([`--config.file=${await written('config.yaml', config)}`], {
        KEY: 'NRAK-SCALE',
      });
      await written('prometheus.yml', prometheusConfig(new URL(daemon.url).host));
      adapterConfig = await written('adapter.yaml', example('prometheus-adapter'));
      prometheus = await startPrometheus(prometheusTool.path, folder);
      await until(async () => {
        const all = 'count(newrelic_application_requests_per_minute)';
        return (await prometheus.query(all)).series[0]?.values[0] === 8 ? true : undefined;
      });
    });

    afterAll(async () => {
      await prometheus.stop();
      await stopProgram(daemon);
      await simulator.stop();
    });

    /** The values that the adapter gives a HorizontalPodAutoscaler. */
    async function externalMetric(name: string, selector: string): Promise<readonly string[]> {
      const args = [adapterConfig, prometheus.url, 'shop', name, selector];
      const { stdout } = await run(adapter.path, args);
      return stdout.split('\n').filter((line) => line !== '');
    }

    const external = autoscaler.spec.metrics[0]?.external;
    const name = external?.metric.name ?? '';
    const selector = Object.entries(external?.metric.selector.matchLabels ?? {})
      .map((pair) => pair.join('='))
      .join(',');

    it('gives the autoscaler of prometheus-adapter one value, with each application counted once', async () => {
      expect(selector).toBe('account=production,app_id=31584797');
      expect(await externalMetric(name, selector)).toEqual(['5600']);
    });

    it('gives it all applications together without a selector', async () => {
      expect(await externalMetric(name, '')).toEqual(['5710']);
    });

    it('gives it nothing for what is absent, neither 0 nor another application', async () => {
      expect(await externalMetric(name, 'app_id=404')).toEqual([]);
      await expect(externalMetric('newrelic_application_typo', selector)).rejects.toThrow(
        'not find the metric',
      );
    });

    it('cannot be asked for a name that is no label value of Kubernetes', async () => {
      await expect(externalMetric(name, 'app_name=Checkout (production)')).rejects.toThrow('found');
    });

    it('has exactly one series for the query of KEDA, and none for an application that is not there', async () => {
      const query = scaledObject.spec.triggers[0]?.metadata['query'] ?? '';

      expect((await prometheus.query(query)).series).toEqual([{ metric: {}, values: [5600] }]);
      expect((await prometheus.query(query.replace('Checkout', 'Chekout'))).series).toEqual([]);
    });

    it('has one series for the requests in progress, and none without the application', async () => {
      const [query = '', ...more] = expressionsIn(readDocument('docs/kubernetes.md').text).filter(
        (expression) => expression.includes('newrelic_application_response_time_seconds'),
      );
      const { series } = await prometheus.query(query);

      expect(more).toEqual([]);
      expect(series).toHaveLength(1);
      expect(series[0]?.values[0]).toBeGreaterThan(1);
      expect((await prometheus.query(query.replaceAll('Checkout', 'Chekout'))).series).toEqual([]);
    });

    it('refuses a configuration with a field that the adapter does not know', async () => {
      const wrong = example('prometheus-adapter').replace('metricsQuery', 'metricQuery');
      const args = [await written('wrong.yaml', wrong), prometheus.url, 'shop', name, selector];

      await expect(run(adapter.path, args)).rejects.toThrow('field metricQuery not found');
    });
  },
);
