import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { type Prometheus, startPrometheus } from '../dashboards/prometheus.ts';
import { readDocument } from '../docs/documents.ts';
import { codeBlocksIn } from '../docs/markdown.ts';
import { type RunningDaemon, startDaemon, stopProgram, until } from '../support/daemon-process.ts';
import { goToolOrSkip } from '../support/go-tool.ts';
import { toolOrSkip } from '../support/tools.ts';
import { kubectlValidate, schemaReport } from './api-schemas.ts';

const run = promisify(execFile);
const prometheusTool = toolOrSkip('prometheus');
const adapter = goToolOrSkip('external-metrics');

/** The blocks of YAML, by the comment that each begins with. */
const blocks = new Map(
  codeBlocksIn(readDocument('docs/kubernetes.md').text)
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => [/^# (?:The )?([\w-]+)/u.exec(text)?.[1] ?? '', text] as const),
);

function block(name: string): string {
  const text = blocks.get(name);
  if (text === undefined) throw new Error(`docs/kubernetes.md has no ${name}`);
  return text;
}

interface Autoscaler {
  readonly spec: {
    readonly metrics: readonly {
      readonly external?: {
        readonly metric: {
          readonly name: string;
          readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
        };
        readonly target: { readonly averageValue: string };
      };
    }[];
  };
}

interface ScaledObject {
  readonly spec: {
    readonly minReplicaCount: number;
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: Readonly<Record<string, string>>;
    }[];
  };
}

const autoscaler = parse(block('HorizontalPodAutoscaler')) as Autoscaler;
const scaledObject = parse(block('ScaledObject')) as ScaledObject;

/**
 * What the triggers of KEDA 2.21 know, from the sources of its scalers: its schema takes any text as a
 * name here.
 */
const knownMetadata: Readonly<Record<string, readonly string[]>> = {
  prometheus: [
    'activationThreshold',
    'authModes',
    'awsRegion',
    'customHeaders',
    'identityOwner',
    'ignoreNullValues',
    'namespace',
    'query',
    'queryParameters',
    'serverAddress',
    'threshold',
    'timeout',
    'unsafeSsl',
  ],
  cpu: ['containerName', 'value'],
};

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

describe.skipIf(kubectlValidate.skip)(
  `the autoscalers in the documents${kubectlValidate.note}`,
  () => {
    const names = ['HorizontalPodAutoscaler', 'ScaledObject', 'TriggerAuthentication'];

    it.each(names)('%s: is what the schema of its API takes', async (name) => {
      const report = await schemaReport([await written(`${name}.yaml`, block(name))], '1.30');

      expect(report).toContain('OK');
      expect(report).not.toMatch(/error/iu);
    });

    it.each([
      { name: 'HorizontalPodAutoscaler', from: 'averageValue:', to: 'averageValues:' },
      { name: 'ScaledObject', from: 'failureThreshold:', to: 'failureThresholds:' },
      { name: 'ScaledObject', from: 'currentReplicasIfHigher', to: 'currentReplicasIfMore' },
      { name: 'TriggerAuthentication', from: 'parameter:', to: 'parameters:' },
    ])('$name: would be refused with $to', async ({ name, from, to }) => {
      const wrong = block(name).replace(from, to);

      expect(await schemaReport([await written(`${to}.yaml`, wrong)], '1.30')).toContain(
        to.replace(':', ''),
      );
    });
  },
);

describe('the ScaledObject in the documents', () => {
  it('has no setting that its triggers do not know', () => {
    const unknown = scaledObject.spec.triggers.flatMap(({ type, metadata }) =>
      Object.keys(metadata).filter((key) => knownMetadata[type]?.includes(key) !== true),
    );

    expect(scaledObject.spec.triggers.map(({ type }) => type)).toEqual(['prometheus', 'cpu']);
    expect(unknown).toEqual([]);
  });

  it('never takes an empty answer for 0, and never scales to zero', () => {
    expect(scaledObject.spec.triggers[0]?.metadata).toMatchObject({ ignoreNullValues: 'false' });
    expect(scaledObject.spec.minReplicaCount).toBeGreaterThan(0);
  });
});

const both = { kind: 'both', hosts: 1 } as const;

const configOf = (baseUrl: string): string => `
accounts:
  - name: production
    base_url: ${baseUrl}
    api_key_env: KEY
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
      adapterConfig = await written('adapter.yaml', block('Configuration'));
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

    it('refuses a configuration with a field that the adapter does not know', async () => {
      const wrong = block('Configuration').replace('metricsQuery', 'metricQuery');
      const args = [await written('wrong.yaml', wrong), prometheus.url, 'shop', name, selector];

      await expect(run(adapter.path, args)).rejects.toThrow('field metricQuery not found');
    });
  },
);
