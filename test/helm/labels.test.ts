import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chart, helm3, helm4, render } from './chart.ts';
import { type Manifest, type Metadata, ofKind } from './manifests.ts';

interface WorkloadSpec {
  readonly selector: unknown;
  readonly template: { readonly metadata: Metadata };
}

/** A copy of the chart with other words in its Chart.yaml. */
function chartWith(changes: readonly (readonly [string, string])[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'newrelic-exporter-chart-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(chart, copy, { recursive: true });
  const file = join(copy, 'Chart.yaml');
  const text = changes.reduce(
    (before, [from, to]) => {
      if (!before.includes(from)) throw new Error(`Chart.yaml does not contain ${from}`);
      return before.replace(from, to);
    },
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, text);
  return copy;
}

function workload(manifests: readonly Manifest[], kind: string): Manifest & { spec: WorkloadSpec } {
  const [found] = ofKind(manifests, kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found as unknown as Manifest & { spec: WorkloadSpec };
}

describe.each([
  { helm: 'helm 3', tool: helm3 },
  { helm: 'helm 4', tool: helm4 },
])('the labels by $helm', ({ tool }) => {
  describe.skipIf(tool.skip)(`of a release${tool.note}`, () => {
    it.each([
      { kind: 'Deployment', values: '14-options-values.yaml' },
      { kind: 'StatefulSet', values: '15-other-operators-values.yaml' },
    ])(
      'change with the version of the chart, but not in pods, which a $kind would then restart',
      async ({ kind, values }) => {
        const next = chartWith([['\nversion: 0.1.0\n', '\nversion: 0.1.1\n']]);

        const before = workload(await render({ helm: tool.path, values: [values] }), kind);
        const after = workload(
          await render({ helm: tool.path, values: [values], path: next }),
          kind,
        );

        expect(before.metadata.labels?.['helm.sh/chart']).toBe('newrelic-exporter-0.1.0');
        expect(after.metadata.labels?.['helm.sh/chart']).toBe('newrelic-exporter-0.1.1');
        expect(after.spec).toEqual(before.spec);
      },
    );

    it('do not change in pods with the version of the exporter, but the image does', async () => {
      const next = chartWith([['\nappVersion: 0.1.0\n', '\nappVersion: 0.2.0\n']]);
      const values = ['01-default-values.yaml'];

      const before = workload(await render({ helm: tool.path, values }), 'Deployment');
      const after = workload(await render({ helm: tool.path, values, path: next }), 'Deployment');

      expect(after.metadata.labels?.['app.kubernetes.io/version']).toBe('0.2.0');
      expect(after.spec.template.metadata).toEqual(before.spec.template.metadata);
      expect(after.spec.selector).toEqual(before.spec.selector);
      expect(JSON.stringify(after.spec)).toBe(
        JSON.stringify(before.spec).replace('newrelic-exporter:0.1.0', 'newrelic-exporter:0.2.0'),
      );
    });

    it('have the name of the release and the common ones on every object, if asked for', async () => {
      const manifests = await render({
        helm: tool.path,
        values: ['14-options-values.yaml'],
        set: ['dashboards.enabled=true', 'prometheusRule.enabled=true', 'podMonitor.enabled=true'],
      });
      const own = manifests.filter(({ metadata }) => metadata.name !== 'release-extra');
      // Its own label wins, which tells Prometheus to read it.
      const others = own.filter(({ kind }) => kind !== 'ServiceMonitor');

      expect(own.length).toBeGreaterThan(12);
      expect(others.map(({ metadata }) => metadata.labels?.['release'])).toEqual(
        others.map(() => 'release'),
      );
      expect(ofKind(own, 'ServiceMonitor')[0]?.metadata.labels?.['release']).toBe('prometheus');
      expect(own.map(({ metadata }) => metadata.labels?.['team'])).toEqual(
        own.map(() => 'platform'),
      );
    });

    it('do not have the name of the release by default', async () => {
      const manifests = await render({ helm: tool.path, values: ['01-default-values.yaml'] });

      expect(
        manifests.filter(({ metadata }) => metadata.labels?.['release'] !== undefined),
      ).toEqual([]);
    });

    it('that selectors look for cannot be changed', async () => {
      const name = String.raw`app\.kubernetes\.io/name=other`;
      const manifests = await render({
        helm: tool.path,
        values: ['01-default-values.yaml'],
        set: [`commonLabels.${name}`, `podLabels.${name}`, `service.labels.${name}`],
      });
      const { spec, metadata } = workload(manifests, 'Deployment');

      expect(metadata.labels?.['app.kubernetes.io/name']).toBe('newrelic-exporter');
      expect(spec.template.metadata.labels?.['app.kubernetes.io/name']).toBe('newrelic-exporter');
      expect(JSON.stringify(manifests)).not.toContain('"other"');
    });
  });
});
