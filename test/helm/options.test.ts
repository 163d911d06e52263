import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chart, helm3, helm4, manifestsIn, render } from './chart.ts';
import { ofKind } from './manifests.ts';

const run = promisify(execFile);

const extraObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: '{{ .Release.Name }}-extra' },
};

describe.each([
  { helm: 'helm 3', tool: helm3 },
  { helm: 'helm 4', tool: helm4 },
])('what is off by default, by $helm', ({ tool }) => {
  describe.skipIf(tool.skip)(`when it is on${tool.note}`, () => {
    it.each([
      { form: 'a list', value: [extraObject] },
      { form: 'a map', value: { notes: extraObject } },
      {
        form: 'a list of texts',
        value: [
          '{{- toYaml (dict "kind" "ConfigMap" "metadata" (dict "name" (printf "%s-extra" .Release.Name))) }}',
        ],
      },
    ])('has the extra objects that are $form, without a word of warning', async ({ value }) => {
      const { stdout, stderr } = await run(tool.path, [
        'template',
        'release',
        chart,
        '--kube-version=1.34.0',
        `--values=${join(chart, 'ci/01-default-values.yaml')}`,
        `--set-json=extraManifests=${JSON.stringify(value)}`,
      ]);
      const extra = manifestsIn(stdout).filter(({ metadata }) => metadata.name === 'release-extra');

      expect(extra.map(({ kind }) => kind)).toEqual(['ConfigMap']);
      expect(stderr).toBe('');
    });

    it('has every dashboard as it is in its file, for the Grafana Operator', async () => {
      const manifests = await render({
        helm: tool.path,
        values: ['15-other-operators-values.yaml'],
      });
      const dashboards = ofKind(manifests, 'GrafanaDashboard');
      const files = readdirSync(join(chart, 'dashboards'));

      expect(dashboards.map(({ spec }) => JSON.parse(String(spec?.['json'])) as unknown)).toEqual(
        files.map(
          (file) => JSON.parse(readFileSync(join(chart, 'dashboards', file), 'utf8')) as unknown,
        ),
      );
      expect(dashboards.map(({ spec }) => spec?.['instanceSelector'])).toEqual(
        files.map(() => ({ matchLabels: { dashboards: 'grafana' } })),
      );
      // A release keeps all of it in one Secret, which Kubernetes limits to 1 MiB.
      expect(JSON.stringify(dashboards).length).toBeLessThan(1_000_000);
    });
  });
});
