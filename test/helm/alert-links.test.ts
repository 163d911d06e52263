import { describe, expect, it } from 'vitest';
import { readDashboards } from '../dashboards/dashboard-files.ts';
import { promtoolComplaint } from '../rules/promtool-test.ts';
import type { Alert, Recording } from '../rules/rule-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { helm3, render } from './chart.ts';
import { ofKind } from './manifests.ts';

const promtool = toolOrSkip('promtool');

interface Group {
  readonly name: string;
  readonly rules: readonly (Alert | Recording)[];
}

async function alertsWith(set: readonly string[]): Promise<readonly Alert[]> {
  const manifests = await render({
    values: ['01-default-values.yaml'],
    set: ['prometheusRule.enabled=true', 'prometheusRule.groups.applications=true', ...set],
  });
  const groups = ofKind(manifests, 'PrometheusRule')[0]?.spec?.['groups'] as readonly Group[];
  return groups.flatMap(({ rules }) => rules.filter((rule): rule is Alert => 'alert' in rule));
}

const withGrafana = ['prometheusRule.grafanaUrl=https://grafana.example.com/sub/'];

interface Case {
  readonly alertname: string;
  readonly series: string;
  readonly values: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string;
}

const start = 'https://grafana.example.com/sub/d';
const range = '?from=now-6h&to=now';

const cases: readonly Case[] = [
  {
    alertname: 'NewRelicApplicationNotReporting',
    series:
      'newrelic_application_reporting{cluster="eu-1",job="j",instance="i",account="R&D + \\"ops\\"/ü",app_id="31584797",app_name="a"}',
    values: '0x60',
    labels: {
      severity: 'warning',
      cluster: 'eu-1',
      account: 'R&D + "ops"/ü',
      app_id: '31584797',
      app_name: 'a',
    },
    url: `${start}/newrelic-application${range}&var-account=R%26D+%2B+%22ops%22%2F%C3%BC&var-app=31584797&var-cluster=eu-1`,
  },
  {
    alertname: 'NewRelicExporterDiscoveryFailing',
    series: 'newrelic_up{job="monitoring/new relic",instance="[::1]:9126",account="main"}',
    values: '0x60',
    labels: {
      severity: 'warning',
      job: 'monitoring/new relic',
      instance: '[::1]:9126',
      account: 'main',
    },
    url: `${start}/newrelic-exporter${range}&var-account=main&var-instance=%5B%3A%3A1%5D%3A9126&var-job=monitoring%2Fnew+relic`,
  },
  {
    alertname: 'NewRelicExporterAbsent',
    series: 'up{job="other",instance="i"}',
    values: '1x60',
    labels: { severity: 'critical' },
    url: `${start}/newrelic-exporter${range}`,
  },
];

/** What promtool says against this link. */
function complaint(alert: Alert, { alertname, series, values, labels, url }: Case): string {
  const { dashboard_url } = alert.annotations;
  const rule = { ...alert, annotations: { dashboard_url } };
  const expected = { exp_labels: labels, exp_annotations: { dashboard_url: url } };
  const test = {
    interval: '1m',
    input_series: [{ series, values }],
    alert_rule_test: [{ alertname, eval_time: '40m', exp_alerts: [expected] }],
  };
  return promtoolComplaint(promtool.path, test, [{ name: 'a', rules: [rule] }]);
}

describe.skipIf(helm3.skip)(`the links of alerts to dashboards${helm3.note}`, () => {
  it('are left out as long as the values do not say where Grafana is', async () => {
    const alerts = await alertsWith([]);

    expect(alerts.length).toBeGreaterThan(20);
    expect(alerts.filter(({ annotations }) => 'dashboard_url' in annotations)).toEqual([]);
  });

  it('lead from every alert to a dashboard, and set variables that it has', async () => {
    const dashboards = readDashboards();
    const alerts = await alertsWith(withGrafana);

    const unknown = alerts.map(({ annotations }) => {
      const { dashboard_url: url = '', __dashboardUid__: uid = '' } = annotations;
      const dashboard = dashboards.find((one) => url.startsWith(`${start}/${one.uid}${range}{{`));
      const known = dashboard?.templating.list.map(({ name }) => name) ?? [];
      const set = [...url.matchAll(/&var-(\w+)=/g)].map(([, name = '']) => name);
      return { uid, variables: set.filter((name) => !known.includes(name)) };
    });

    expect(alerts.length).toBeGreaterThan(20);
    for (const { uid, variables } of unknown) {
      // No alert that leads to the dashboard of the exporter needs its application there.
      expect(variables).toEqual(uid === 'newrelic-application' ? [] : ['app']);
    }
  });

  it.skipIf(promtool.skip).each(cases)('choose there what $alertname is about', async (one) => {
    const alert = (await alertsWith(withGrafana)).find((rule) => rule.alert === one.alertname);
    if (alert === undefined) throw new Error(`There is no alert ${one.alertname}`);

    expect(complaint(alert, one)).toBe('');
  });
});
