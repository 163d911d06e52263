import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tool } from '../support/tools.ts';
import { chart, helm3, helm4, render, valuesFiles } from './chart.ts';
import { exporterProblems, exportersIn } from './exporter-files.ts';
import { keyLeaks, keysInEnvironment } from './key-leaks.ts';
import { type Manifest, ofKind } from './manifests.ts';

const run = promisify(execFile);
/** The key in the values that give one as a value. */
const canary = 'NRAK-TESTTESTTESTTESTTESTTESTTES';
const foreignConfigMap = 'exporter-config';

interface Case {
  readonly tool: Tool;
  readonly kubeVersion: string;
  readonly values: string;
}

async function lint({ tool, kubeVersion, values }: Case): Promise<string> {
  const { stdout } = await run(tool.path, [
    'lint',
    '--strict',
    `--kube-version=${kubeVersion}`,
    `--values=${join(chart, 'ci', values)}`,
    chart,
  ]);
  return stdout;
}

/** The ends of what is supported: the oldest with the oldest. */
describe.each([
  { helm: 'helm 3', tool: helm3, kubeVersion: '1.25.0' },
  { helm: 'helm 4', tool: helm4, kubeVersion: '1.34.0' },
])('the chart by $helm, for Kubernetes $kubeVersion', ({ tool, kubeVersion }) => {
  const cases: readonly Case[] = valuesFiles.map((values) => ({ tool, kubeVersion, values }));
  const renderings = new Map<Case, readonly Manifest[]>();
  const lints = new Map<Case, string>();

  const manifestsOf = (one: Case): readonly Manifest[] => renderings.get(one) ?? [];

  describe.skipIf(tool.skip)(`with all values${tool.note}`, () => {
    beforeAll(async () => {
      // More at a time than there are processors makes nothing faster.
      const limit = pLimit(3);
      await Promise.all(
        cases.map(async (one) => {
          const manifests = await limit(async () =>
            render({ helm: tool.path, kubeVersion: one.kubeVersion, values: [one.values] }),
          );
          renderings.set(one, manifests);
        }),
      );
      await Promise.all(
        cases.map(async (one) => {
          lints.set(one, await limit(async () => lint(one)));
        }),
      );
    });

    it.each(cases)('$values: has no findings of lint', (one) => {
      expect(lints.get(one)).toContain('1 chart(s) linted, 0 chart(s) failed');
      expect(lints.get(one)).not.toMatch(/\[(?:ERROR|WARNING|INFO)\]/u);
    });

    it.each(cases)('$values: has unique, named, labelled objects', (one) => {
      const manifests = manifestsOf(one);
      const names = manifests.map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`,
      );
      const own = manifests.filter(({ metadata }) => !metadata.name.endsWith('-extra'));

      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
      expect(own.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'])).toEqual(
        own.map(() => 'release'),
      );
      expect(own.filter(({ metadata }) => metadata.namespace === undefined)).toEqual([]);
      expect(names.filter((name) => (name.split(' ').at(-1)?.length ?? 0) > 63)).toEqual([]);
    });

    it.each(cases)('$values: has keys in Secrets only', (one) => {
      expect(keyLeaks(manifestsOf(one), canary)).toEqual([]);
      expect(keysInEnvironment(manifestsOf(one))).toEqual([]);
    });

    it.each(cases)('$values: has what the exporter accepts', async (one) => {
      const manifests = manifestsOf(one);
      const workloads = manifests.filter(({ kind }) => /^(?:Deployment|StatefulSet)$/u.test(kind));

      expect(await exporterProblems(manifests, foreignConfigMap)).toEqual([]);
      expect(exportersIn(workloads)).toHaveLength(workloads.length);
    });

    it('puts the key that is given as a value into a Secret, and does so only then', () => {
      const withKey = cases.filter((one) => ofKind(manifestsOf(one), 'Secret').length > 0);
      const [secret] = withKey.flatMap((one) => ofKind(manifestsOf(one), 'Secret'));
      const data = Object.values(secret?.data ?? {});

      expect([...new Set(withKey.map(({ values }) => values))]).toEqual([
        '03-key-value-values.yaml',
      ]);
      expect(data.map((text) => Buffer.from(text, 'base64').toString())).toEqual([canary]);
    });

    it('sets each variable of a container once, also if the values name it', async () => {
      const own = ['extraEnv[0].name=POD_NAME', 'extraEnv[0].value=exporter-0'];
      const [pod] = exportersIn(
        await render({
          helm: tool.path,
          kubeVersion,
          values: ['05-shards-static-values.yaml'],
          set: own,
        }),
      );

      expect(pod?.container.env).toEqual([{ name: 'POD_NAME', value: 'exporter-0' }]);
    });

    it('leaves no template in what Kubernetes reads', () => {
      const one = cases.find(({ values }) => values === '17-templates-values.yaml');
      const manifests = one === undefined ? [] : manifestsOf(one);
      // Alerts and dashboards have templates of Prometheus and Grafana; one annotation has escaped braces.
      const read = manifests.map(({ kind, metadata, spec }) =>
        kind === 'PrometheusRule' ? { metadata } : { metadata, spec },
      );

      expect(manifests.length).toBeGreaterThan(10);
      expect(JSON.stringify(read).replace('{{ a }}', '')).not.toContain('{{');
    });

    it('covers every kind of object that the chart can make', () => {
      const kinds = new Set(cases.flatMap((one) => manifestsOf(one).map(({ kind }) => kind)));

      expect([...kinds].toSorted()).toEqual([
        'ConfigMap',
        'Deployment',
        'GrafanaDashboard',
        'HTTPRoute',
        'Ingress',
        'NetworkPolicy',
        'Pod',
        'PodDisruptionBudget',
        'PodMonitor',
        'PodMonitoring',
        'PrometheusRule',
        'ScrapeConfig',
        'Secret',
        'Service',
        'ServiceAccount',
        'ServiceMonitor',
        'StatefulSet',
        'VerticalPodAutoscaler',
      ]);
    });
  });
});
