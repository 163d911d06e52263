import { describe, expect, it } from 'vitest';
import { exportedMetrics, seriesNamesOf } from '../rules/known-metrics.ts';
import { metricNamesIn } from '../rules/promql-names.ts';
import { alertsOf, readRuleFiles, recordingsOf } from '../rules/rule-files.ts';
import { readDashboards } from './dashboard-files.ts';
import { unusedMetrics } from './unused-metrics.ts';

const dashboards = readDashboards();
const queries = dashboards.flatMap(({ name, panels }) =>
  panels.flatMap(({ title, targets }) =>
    (targets ?? []).map(({ expr, refId }) => ({
      where: `${name}: ${title} ${refId}`,
      // Prometheus' own, which has neither a job nor an instance.
      expr: expr.replaceAll(/ALERTS\{[^}]*\}/g, 'vector(1)'),
    })),
  ),
);
const panels = dashboards.flatMap((dashboard) =>
  dashboard.panels
    .filter(({ type }) => type !== 'row')
    .map((panel) => ({ where: `${dashboard.name}: ${panel.title}`, panel })),
);

describe('the dashboards', () => {
  it('are three, with names that do not change', () => {
    expect(dashboards.map(({ uid, title }) => ({ uid, title }))).toEqual([
      { uid: 'newrelic-overview', title: 'New Relic / Overview' },
      { uid: 'newrelic-application', title: 'New Relic / Application' },
      { uid: 'newrelic-exporter', title: 'New Relic / Exporter' },
    ]);
    expect(queries.length).toBeGreaterThan(60);
  });

  it.each(dashboards)('$name is of a classic schema of Grafana 11', (one) => {
    expect(one.schemaVersion).toBeGreaterThanOrEqual(39);
  });

  it.each(dashboards)('$name has panels with ids of their own that do not overlap', (one) => {
    const ids = one.panels.map(({ id }) => id);
    const cells = one.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );

    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(cells).size).toBe(cells.length);
    expect(one.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it.each(dashboards)('$name has its variables in the same order', ({ templating }) => {
    const order = 'datasource cluster job instance account app host transaction_type topn';
    const names = templating.list
      .filter((variable) => !variable.skipUrlSync)
      .map(({ name }) => name);

    expect(names.slice(0, 5)).toEqual(order.split(' ').slice(0, 5));
    expect(names).toEqual(order.split(' ').filter((name) => names.includes(name)));
  });

  it.each(dashboards)('$name takes every cluster, also none at all', ({ templating }) => {
    const cluster = templating.list.find(({ name }) => name === 'cluster');

    expect(cluster).toMatchObject({ allValue: '.*', hide: 0, includeAll: true });
  });

  it.each(dashboards)('$name keeps to itself what it finds out', ({ templating }) => {
    const found = templating.list.filter(({ skipUrlSync }) => skipUrlSync);

    expect(found.map(({ name }) => name)).toContain('whole_exporters');
    // Grafana then fills in the list: a value for "All" would take its place.
    expect(found.filter((one) => one.hide !== 2 || one.allValue !== undefined)).toEqual([]);
    expect(found.filter(({ multi, includeAll }) => !multi || !includeAll)).toEqual([]);
    expect(found.filter(({ refresh }) => refresh !== 2)).toEqual([]);
    expect(found.map(({ current }) => current.value)).toEqual(found.map(() => ['$__all']));
  });

  it.each(dashboards)('$name has a title for every variable', ({ templating }) => {
    expect(templating.list.filter(({ label }) => label === '')).toEqual([]);
    expect(templating.list[0]).toMatchObject({ label: 'Data source', query: 'prometheus' });
  });
});

describe('every panel', () => {
  it.each(panels)('$where names its series', ({ panel }) => {
    const named = panel.type === 'stat' || panel.type === 'table';
    const unnamed = (panel.targets ?? []).filter(({ legendFormat }) => legendFormat === undefined);

    expect(named ? [] : unnamed).toEqual([]);
  });
});

/** The units that say what the last word of a metric's name says. */
const unitsByEnding: readonly (readonly [RegExp, readonly string[]])[] = [
  [/_per_minute$/, ['reqpm', 'cpm']],
  [/_bytes$/, ['bytes']],
  [/_seconds(?:_bucket)?$/, ['s', 'dtdurations', 'dthms']],
];

/** The units that the values of an expression may have; none if it calculates something else of them. */
function unitsFor(expr: string): readonly string[] {
  if (/ \/ |\bcount\b|\btopk\b/.test(expr)) return [];
  const [units, ...others] = new Set(
    metricNamesIn(expr).map((name) => unitsByEnding.find(([ending]) => ending.test(name))?.[1]),
  );
  return others.length === 0 && units !== undefined ? units : [];
}

describe('every panel of one metric', () => {
  const ofOneMetric = panels
    .filter(({ panel }) => panel.type !== 'table')
    .flatMap(({ where, panel }) =>
      (panel.targets ?? []).map(({ refId, expr }) => ({
        where: `${where} ${refId}`,
        unit: panel.fieldConfig?.defaults.unit ?? '',
        units: unitsFor(expr),
      })),
    )
    .filter(({ units }) => units.length > 0);

  it.each(ofOneMetric)('$where has the unit that the name of its metric says', (one) => {
    expect(one.units).toContain(one.unit);
  });

  it('is found', () => {
    expect(ofOneMetric.length).toBeGreaterThan(8);
  });
});

describe('every query', () => {
  it.each(queries)('$where follows every variable that can choose', ({ expr }) => {
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];

    for (const selector of selectors) {
      expect(selector).toContain('cluster=~"$cluster",job=~"$job",instance=~"$instance"');
    }
    expect(selectors.length).toBeGreaterThanOrEqual(metricNamesIn(expr).length);
  });

  it.each(queries)('$where counts an application once that two exporters poll', ({ expr }) => {
    // What one exporter says of two metrics is one series again.
    const pair = /newrelic_\w+\{[^}]*\}(?: offset 1w)? (?:\*|and) (?=newrelic_)/g;
    const around = expr.replaceAll(pair, '').split(/newrelic_application_\w+\{/);

    for (const before of around.slice(0, -1))
      expect(before).toMatch(/(?:max|count|group) by \([^)]*\) \((?:(?:last|sum)_over_time\()?$/);
  });
});

describe('every exported metric', () => {
  const rules = readRuleFiles();
  const expressions = [
    ...queries.map(({ expr }) => expr),
    ...dashboards.flatMap(({ annotations }) => annotations.list.map(({ expr }) => expr)),
    ...[...alertsOf(rules), ...recordingsOf(rules)].map(({ expr }) => expr),
  ];
  const used = new Set(expressions.flatMap(metricNamesIn));

  it.each(exportedMetrics)('$name is shown or watched, or there is a reason why not', (metric) => {
    const isUsed = seriesNamesOf(metric).some((name) => used.has(name));

    const reasons = [...unusedMetrics.keys()].filter((name) =>
      new RegExp(`^${name}`).test(metric.name),
    );

    expect(isUsed).toBe(reasons.length === 0);
  });
});
