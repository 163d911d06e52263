import { describe, expect, it } from 'vitest';
import { promtoolComplaint } from '../rules/promtool-test.ts';
import { alertsOf, readRuleFiles } from '../rules/rule-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { readDashboards } from './dashboard-files.ts';
import { everything, filledIn } from './grafana.ts';

const promtool = toolOrSkip('promtool');
const dashboards = readDashboards();
const rules = readRuleFiles();

function panelAt(where: string): {
  readonly expr: string;
  readonly thresholds: readonly (number | null)[];
} {
  const [, name, title, refId] = /^(\w+): (.+) ([A-Z])$/.exec(where) ?? [];
  const panel = dashboards
    .find((one) => one.name === name)
    ?.panels.find((one) => one.title === title && one.type !== 'row');
  const target = panel?.targets?.find((one) => one.refId === refId);
  if (target === undefined) throw new Error(`There is no panel ${where}`);
  const steps = panel?.fieldConfig?.defaults.thresholds?.steps ?? [];
  return { expr: filledIn(target.expr, everything), thresholds: steps.map(({ value }) => value) };
}

function expressionOf(alert: string): string {
  const rule = alertsOf(rules).find((one) => one.alert === alert);
  if (rule === undefined) throw new Error(`There is no alert ${alert}`);
  return rule.expr;
}

/** A series of an exporter; `labels` beside its own. */
function of(instance: string, metric: string, labels = ''): string {
  const more = labels === '' ? '' : `,${labels}`;
  return `${metric}{namespace="n",job="nr",instance="${instance}"${more}}`;
}

const build = 'version="1",revision="x",node_version="v24"';
const shop = 'app_id="1",app_name="shop"';
const cart = 'app_id="2",app_name="cart"';
const success = 'newrelic_application_last_success_timestamp_seconds';

/** Two of three shards, both up, with a fault of every other kind. */
const faults: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['a', 'b'].flatMap((instance, index) => [
      [of(instance, 'up'), '1x60'],
      [of(instance, 'newrelic_exporter_build_info', build), '1x60'],
      [of(instance, 'newrelic_exporter_shard'), `${index}x60`],
      [of(instance, 'newrelic_exporter_total_shards'), '3x60'],
      [of(instance, 'newrelic_exporter_config_last_reload_successful'), `${index}x60`],
      [of(instance, 'newrelic_exporter_app_missing', 'account="main",selector="id=9"'), '1x60'],
      [of(instance, 'newrelic_exporter_poll_interval_seconds', 'account="main"'), '60x60'],
      [of(instance, 'newrelic_exporter_poll_interval_seconds', 'account="slow"'), '3600x60'],
    ]),
  ),
  [of('a', 'newrelic_up', 'account="main"')]: '1x30 0x30',
  [of('b', 'newrelic_up', 'account="main"')]: '1x60',
  [of('b', 'newrelic_up', 'account="slow"')]: '1x60',
  [of('b', 'newrelic_up', 'account="third"')]: '0x60',
  [of('a', success, `account="main",${shop}`)]: '0x60',
  [of('b', success, `account="main",${cart}`)]: '0+60x60',
  [of('b', success, `account="slow",${shop}`)]: '0x60',
  ...Object.fromEntries(
    [`account="main",${shop}`, `account="main",${cart}`, `account="slow",${shop}`].map((labels) => [
      of('b', 'newrelic_application_info', `${labels},language="java"`),
      '1x60',
    ]),
  ),
  [of('a', 'newrelic_exporter_api_demand_requests_per_minute', 'account="main"')]: '900x60',
  [of('a', 'newrelic_exporter_api_budget_requests_per_minute', 'account="main"')]: '800x60',
};

/** Three exporters of which two are down, and a foreign target that is down too. */
const outage: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['a', 'b', 'c'].flatMap((instance) => [
      [of(instance, 'up'), instance === 'c' ? '1x60' : '1x30 0x30'],
      [
        of(instance, 'newrelic_exporter_build_info', build),
        instance === 'c' ? '1x60' : '1x30 stale',
      ],
    ]),
  ),
  'up{job="node",instance="d"}': '0x60',
};

const healthy: Readonly<Record<string, string>> = {
  [of('a', 'up')]: '1x60',
  [of('a', 'newrelic_exporter_build_info', build)]: '1x60',
  [of('a', 'newrelic_exporter_shard')]: '0x60',
  [of('a', 'newrelic_exporter_total_shards')]: '1x60',
  [of('a', 'newrelic_up', 'account="main"')]: '1x60',
  [of('a', 'newrelic_exporter_poll_interval_seconds', 'account="main"')]: '60x60',
  [of('a', 'newrelic_application_info', `account="main",${shop},language="java"`)]: '1x60',
  [of('a', success, `account="main",${shop}`)]: '0+60x60',
};

/** What a tile counts, and how to count the same by an alert. */
const counts = [
  {
    tile: 'Exporters down A',
    alert: 'NewRelicExporterDown',
    count: (alerts: string) => `count(${alerts})`,
    wrong: outage,
    value: 2,
  },
  {
    tile: 'Accounts failing A',
    alert: 'NewRelicExporterDiscoveryFailing',
    count: (alerts: string) => `count(group by (account) (${alerts}))`,
    wrong: faults,
    value: 2,
  },
  {
    tile: 'Values stale A',
    alert: 'NewRelicExporterDataStale',
    count: (alerts: string) => `count(${alerts})`,
    wrong: faults,
    value: 1,
  },
  {
    tile: 'Shards missing A',
    alert: 'NewRelicExporterShardMissing',
    count: (alerts: string) => `sum(${alerts})`,
    wrong: faults,
    value: 1,
  },
  {
    tile: 'Unmatched entries A',
    alert: 'NewRelicExporterApplicationMissing',
    count: (alerts: string) => `count(${alerts})`,
    wrong: faults,
    value: 1,
  },
];

/** What a panel shows as a threshold, and where the alert has it. */
const limits = [
  ...['Demand by account A', 'Use of the budget A', 'Highest demand A'].map((panel) => ({
    panel: `exporter: ${panel}`,
    alert: 'NewRelicExporterBudgetTooSmall',
    limit: 0.985,
    text: '0.985 *',
  })),
  {
    panel: 'application: Imbalance A',
    alert: 'NewRelicApplicationHostImbalance',
    limit: 2,
    text: 'max_per_avg_ratio > 2',
  },
  {
    panel: 'application: Error ratio A',
    alert: 'NewRelicApplicationErrorRatioHigh',
    limit: 0.05,
    text: '> 0.05',
  },
  {
    panel: 'application: Apdex A',
    alert: 'NewRelicApplicationApdexLow',
    limit: 0.7,
    text: '< 0.7',
  },
];

/** What promtool says against this value after an hour; `undefined` means none. */
function complaint(
  series: Readonly<Record<string, string>>,
  expr: string,
  value: number | undefined,
): string {
  const samples = value === undefined ? [] : [{ labels: '{}', value }];
  return promtoolComplaint(promtool.path, {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ expr, eval_time: '1h', exp_samples: samples }],
  });
}

describe('dashboards and alerts', () => {
  it.each(limits)('have the same limit: $panel and $alert', ({ panel, alert, limit, text }) => {
    expect(panelAt(panel).thresholds).toEqual([null, limit]);
    expect(expressionOf(alert)).toContain(text);
  });

  it('remember an exporter that is down for the same time', () => {
    const memory = /newrelic_exporter_build_info(?:\{[^}]*\})?(\[\w+\])/;
    const ofAlert = memory.exec(expressionOf('NewRelicExporterDown'))?.[1];

    expect(ofAlert).toMatch(/^\[\d+[dw]\]$/);
    expect(memory.exec(panelAt('exporter: Exporters down A').expr)?.[1]).toBe(ofAlert);
  });
});

describe.skipIf(promtool.skip)(`tiles and alerts${promtool.note}`, () => {
  it.each(counts)('agree: $tile and $alert are $value', ({ tile, alert, count, wrong, value }) => {
    expect(complaint(wrong, count(expressionOf(alert)), value)).toBe('');
    expect(complaint(wrong, panelAt(`exporter: ${tile}`).expr, value)).toBe('');
  });

  it.each(counts)('$tile is 0 if all is well', ({ tile, alert, count }) => {
    expect(complaint(healthy, count(expressionOf(alert)), undefined)).toBe('');
    expect(complaint(healthy, panelAt(`exporter: ${tile}`).expr, 0)).toBe('');
  });

  it.each(counts)('$tile has no value if nothing is known', ({ tile }) => {
    const foreign = { 'up{job="node",instance="d"}': '0x60' };

    expect(complaint(foreign, panelAt(`exporter: ${tile}`).expr, undefined)).toBe('');
  });
});
