import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chart, helm3, helm4, type RenderOptions, render } from './chart.ts';
import { ofKind } from './manifests.ts';

function read(path: string): string {
  return readFileSync(join(chart, path), 'utf8');
}

function groupsOf(name: string): readonly unknown[] {
  return (parse(read(`rules/${name}.yaml`)) as { readonly groups: readonly unknown[] }).groups;
}

const enabled = ['prometheusRule.enabled=true'];

async function renderedGroups(options: RenderOptions): Promise<unknown> {
  const manifests = await render({ values: ['01-default-values.yaml'], ...options });
  return ofKind(manifests, 'PrometheusRule')[0]?.spec?.['groups'];
}

describe.each([
  { helm: 'helm 3', tool: helm3 },
  { helm: 'helm 4', tool: helm4 },
])('what the chart ships, by $helm', ({ tool }) => {
  describe.skipIf(tool.skip)(`in a release${tool.note}`, () => {
    it('has the rules as they are in the files, without those for applications', async () => {
      const groups = await renderedGroups({ helm: tool.path, set: enabled });

      expect(groups).toEqual([...groupsOf('recording'), ...groupsOf('exporter')]);
    });

    it('has the rules for applications when they are asked for, and groups of its own', async () => {
      const groups = await renderedGroups({
        helm: tool.path,
        set: [
          ...enabled,
          'prometheusRule.groups.applications=true',
          'prometheusRule.groups.exporter=false',
          'prometheusRule.extraGroups[0].name=own',
        ],
      });

      expect(groups).toEqual([
        ...groupsOf('recording'),
        ...groupsOf('applications'),
        { name: 'own' },
      ]);
    });

    it('leads to the runbook that the values name, and else is the same', async () => {
      const groups = await renderedGroups({
        helm: tool.path,
        set: [...enabled, 'prometheusRule.runbookUrl=https://runbooks.example.com/nr'],
      });
      const standard =
        'https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/runbook.md';
      const text = JSON.stringify(groups);

      expect(text).not.toContain(standard);
      expect(
        JSON.parse(text.replaceAll('https://runbooks.example.com/nr', standard)) as unknown,
      ).toEqual([...groupsOf('recording'), ...groupsOf('exporter')]);
    });

    it('has every dashboard as it is in its file, in a ConfigMap that Grafana finds', async () => {
      const manifests = await render({
        helm: tool.path,
        values: ['08-none-values.yaml'],
      });
      const maps = ofKind(manifests, 'ConfigMap');
      const files = readdirSync(join(chart, 'dashboards'));
      const shipped = Object.assign({}, ...maps.map(({ data }) => data)) as Record<string, string>;

      expect(files.length).toBeGreaterThanOrEqual(3);
      expect(
        Object.fromEntries(
          Object.entries(shipped).map(([name, text]) => [name, JSON.parse(text) as unknown]),
        ),
      ).toEqual(
        Object.fromEntries(
          files.map((file) => [
            `newrelic-${file}`,
            JSON.parse(read(`dashboards/${file}`)) as unknown,
          ]),
        ),
      );
      expect(maps.map(({ metadata }) => metadata.labels?.['grafana_dashboard'])).toEqual(
        maps.map(() => '1'),
      );
      expect(maps.map(({ metadata }) => metadata.annotations?.['grafana_folder'])).toEqual(
        maps.map(() => 'APM'),
      );
      // The limit of an annotation, which kubectl apply keeps the last state in.
      expect(maps.filter(({ data }) => JSON.stringify(data).length > 250_000)).toEqual([]);
    });
  });
});
