import { describe, expect, it } from 'vitest';
import { alertsOf, readRuleFiles } from '../rules/rule-files.ts';
import { readDashboards } from './dashboard-files.ts';
import { everything, filledIn } from './grafana.ts';

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
