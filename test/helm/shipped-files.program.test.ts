import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDashboards } from '../dashboards/dashboard-files.ts';
import { promtoolComplaint } from '../rules/promtool-test.ts';
import type { Alert, Recording } from '../rules/rule-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { chart, helm4, render } from './chart.ts';
import { ofKind } from './manifests.ts';

const promtool = toolOrSkip('promtool');

interface Group {
  readonly name: string;
  readonly rules: readonly (Alert | Recording)[];
}

function read(path: string): string {
  return readFileSync(join(chart, path), 'utf8');
}

function groupsOf(name: string): readonly Group[] {
  return (parse(read(`rules/${name}.yaml`)) as { readonly groups: readonly Group[] }).groups;
}

const enabled = ['prometheusRule.enabled=true'];
const discoveryFailing = 'NewRelicExporterDiscoveryFailing';

async function renderedGroups(set: readonly string[]): Promise<readonly Group[]> {
  const values = ['01-default-values.yaml'];
  const manifests = await render({ helm: helm4.path, values, set });
  return ofKind(manifests, 'PrometheusRule')[0]?.spec?.['groups'] as readonly Group[];
}

describe.skipIf(helm4.skip)(`what the chart ships${helm4.note}`, () => {
  it('has the rules as they are in the files, without those for applications', async () => {
    const groups = await renderedGroups(enabled);

    expect(groups).toEqual([...groupsOf('recording'), ...groupsOf('exporter')]);
  });

  it('has the rules for applications when they are asked for, and groups of its own', async () => {
    const groups = await renderedGroups([
      ...enabled,
      'prometheusRule.groups.applications=true',
      'prometheusRule.groups.exporter=false',
      'prometheusRule.extraGroups[0].name=own',
    ]);

    expect(groups).toEqual([
      ...groupsOf('recording'),
      ...groupsOf('applications'),
      { name: 'own' },
    ]);
  });

  it('has no alert that is off, and what is different about others', async () => {
    const groups = await renderedGroups([
      ...enabled,
      'prometheusRule.disabled={NewRelicExporterRateLimited,NewRelicApplicationApdexLow}',
      `prometheusRule.overrides.${discoveryFailing}.for=2h`,
      `prometheusRule.overrides.${discoveryFailing}.labels.team=payments`,
      `prometheusRule.overrides.${discoveryFailing}.annotations.summary=Look at {{ $labels.account }}`,
    ]);
    const expected = [...groupsOf('recording'), ...groupsOf('exporter')].map(
      ({ rules, ...group }) => ({
        ...group,
        rules: rules
          .filter((rule) => !('alert' in rule) || rule.alert !== 'NewRelicExporterRateLimited')
          .map((rule) =>
            'alert' in rule && rule.alert === discoveryFailing
              ? {
                  ...rule,
                  for: '2h',
                  labels: { ...rule.labels, team: 'payments' },
                  annotations: { ...rule.annotations, summary: 'Look at {{ $labels.account }}' },
                }
              : rule,
          ),
      }),
    );

    expect(groups).toEqual(expected);
  });

  it('leads to the runbook that the values name, and else is the same', async () => {
    const groups = await renderedGroups([
      ...enabled,
      'prometheusRule.runbookUrl=https://runbooks.example.com/nr',
    ]);
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
      helm: helm4.path,
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

  it('has every dashboard as it is in its file, for the Grafana Operator', async () => {
    const manifests = await render({
      helm: helm4.path,
      values: ['15-other-operators-values.yaml'],
    });
    const shown = ofKind(manifests, 'GrafanaDashboard').map(({ spec }) => String(spec?.['json']));
    const files = readdirSync(join(chart, 'dashboards')).map((file) => read(`dashboards/${file}`));

    expect(shown.map((text) => JSON.parse(text) as unknown)).toEqual(
      files.map((text) => JSON.parse(text) as unknown),
    );
  });

  it('leads from every alert to a dashboard, and sets variables that it has', async () => {
    const groups = await renderedGroups([
      ...enabled,
      'prometheusRule.groups.applications=true',
      'prometheusRule.grafanaUrl=https://grafana.example.com',
    ]);
    const alerts = groups.flatMap(({ rules }) => rules).filter((rule) => 'alert' in rule);

    expect(alerts.length).toBeGreaterThan(20);
    for (const { annotations } of alerts) {
      const { dashboard_url: url = '', __dashboardUid__: uid = '' } = annotations;
      const dashboard = readDashboards().find((one) => url.includes(`.com/d/${one.uid}?from=`));
      const known = dashboard?.templating.list.map(({ name }) => name) ?? [];
      const chosen = [...url.matchAll(/&var-(\w+)=/g)].map(([, name = '']) => name);
      // No alert that leads to the dashboard of the exporter needs its application there.
      expect(chosen.filter((name) => !known.includes(name))).toEqual(
        uid === 'newrelic-application' ? [] : ['app'],
      );
    }
  });

  it.skipIf(promtool.skip)(
    'chooses there what the alert is about, however it is written',
    async () => {
      const url = 'prometheusRule.grafanaUrl=https://grafana.example.com';
      const groups = await renderedGroups([...enabled, url]);
      const alert = groups
        .flatMap(({ rules }) => rules)
        .find((rule): rule is Alert => 'alert' in rule && rule.alert === discoveryFailing);
      const labels = { job: 'new relic', instance: '[::1]:9126', account: 'R&D + "ops"/ü' };
      const test = {
        interval: '1m',
        input_series: [
          {
            series:
              'newrelic_up{job="new relic",instance="[::1]:9126",account="R&D + \\"ops\\"/ü"}',
            values: '0x60',
          },
        ],
        alert_rule_test: [
          {
            alertname: discoveryFailing,
            eval_time: '40m',
            exp_alerts: [
              {
                exp_labels: { severity: 'warning', ...labels },
                exp_annotations: {
                  dashboard_url:
                    'https://grafana.example.com/d/newrelic-exporter?from=now-6h&to=now&var-account=R%26D+%2B+%22ops%22%2F%C3%BC&var-instance=%5B%3A%3A1%5D%3A9126&var-job=new+relic',
                },
              },
            ],
          },
        ],
      };
      if (alert === undefined) throw new Error(`there is no ${discoveryFailing}`);
      const { dashboard_url } = alert.annotations;
      const rules = [{ ...alert, annotations: { dashboard_url } }];

      expect(promtoolComplaint(promtool.path, test, [{ name: 'a', rules }])).toBe('');
    },
  );
});
