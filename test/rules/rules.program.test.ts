import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readDashboards } from '../dashboards/dashboard-files.ts';
import { readDocument } from '../docs/documents.ts';
import { codeBlocksIn, headingsIn, sectionOf } from '../docs/markdown.ts';
import { goToolOrSkip } from '../support/go-tool.ts';
import { type Tool, toolOrSkip } from '../support/tools.ts';
import { exportedSeries } from './known-metrics.ts';
import { metricNamesIn } from './promql-names.ts';
import {
  alertsOf,
  readRuleFiles,
  readRuleTests,
  recordingsOf,
  rulesFolder,
  ruleTestPaths,
} from './rule-files.ts';

const promtool = toolOrSkip('promtool');
const pint = goToolOrSkip('pint');
const files = readRuleFiles();
const alerts = alertsOf(files);
const recordings = recordingsOf(files);
const tests = readRuleTests();
const dashboards = readDashboards();
const runbook = readDocument('docs/runbook.md').text;

const runbookUrl =
  'https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/runbook.md';
/** The parts that every section of the runbook has, in bold, in this order. */
const runbookParts = ['Meaning', 'Impact', 'Dashboard', 'Look at', 'Do'];

function run(
  { path }: Tool,
  args: readonly string[],
): { readonly status: number; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(path, args, { cwd: rulesFolder, encoding: 'utf8' });
  return { status: status ?? 1, text: `${stdout}${stderr}` };
}

describe('the rule files', () => {
  it('are three: what is recorded, alerts about the exporter, alerts about applications', () => {
    expect(files.map(({ name }) => name)).toEqual(['applications', 'exporter', 'recording']);
    expect(alerts.length).toBeGreaterThan(20);
    expect(recordings.length).toBeGreaterThan(4);
  });

  it.each(files)('$name has one group, named after it', ({ name, groups }) => {
    expect(groups.map((group) => group.name)).toEqual([`newrelic-exporter.${name}`]);
  });

  it('tie nothing to the name of a job or a cluster', () => {
    const tied = /\b(?:job|cluster|namespace|instance)\s*(?:=|!)/;

    expect([...alerts, ...recordings].filter(({ expr }) => tied.test(expr))).toEqual([]);
  });
});

describe('every recorded series', () => {
  it.each(recordings)('$record is named level:metric:operations', ({ record }) => {
    const [level = '', metric = '', operations = '', ...more] = record.split(':');

    expect(more).toEqual([]);
    expect(level).toMatch(/^app(?:_type|_host)?$/);
    expect(exportedSeries).toContain(metric);
    expect(operations).toMatch(/^(?:sum|max|(?:max|stddev)_per_avg_ratio)$/);
  });

  it.each(recordings)('$record is tested', ({ record }) => {
    const tested = tests.flatMap((test) => test.promql_expr_test ?? []);

    expect(tested.filter(({ expr }) => metricNamesIn(expr).includes(record))).not.toEqual([]);
  });
});

describe('every alert', () => {
  it.each(alerts)('$alert has a name, a severity and a time to wait', (alert) => {
    expect(alert.alert).toMatch(/^NewRelic(?:Exporter|Application)[A-Z][A-Za-z]+$/);
    expect(Object.keys(alert.labels)).toEqual(['severity']);
    expect(['critical', 'warning', 'info']).toContain(alert.labels['severity']);
    expect(alert.for).toMatch(/^\d+m$/);
  });

  it.each(alerts)('$alert has a summary, a description and a runbook', ({ alert, annotations }) => {
    expect(Object.keys(annotations)).toEqual([
      'summary',
      'description',
      'runbook_url',
      '__dashboardUid__',
      '__panelId__',
    ]);
    expect(annotations['summary']).toMatch(/^[A-Z][^{}]+[^.{}]\.$/);
    expect(annotations['description']).toMatch(/^[A-Z{].+\.$/);
    expect(annotations['runbook_url']).toBe(`${runbookUrl}#${alert.toLowerCase()}`);
  });

  it.each(alerts)('$alert is tested where it fires and where it does not', ({ alert }) => {
    const ownTests = tests
      .flatMap((test) => test.alert_rule_test ?? [])
      .filter(({ alertname }) => alertname === alert)
      .map(({ exp_alerts: expected }) => (expected ?? []).length > 0);

    expect(ownTests).toContain(true);
    expect(ownTests).toContain(false);
  });

  it.each(alerts)('$alert leads to a panel, which the runbook names', ({ alert, annotations }) => {
    const { __dashboardUid__: uid, __panelId__: id } = annotations;
    const dashboard = dashboards.find((one) => one.uid === uid);
    const panel = dashboard?.panels.find((one) => String(one.id) === id);
    const [, name] = dashboard?.title.split(' / ') ?? [];

    expect(panel?.type).not.toBe('row');
    expect(sectionOf(runbook, alert)).toContain(
      `\n**Dashboard.** _${name}_, panel _${panel?.title.replace(' of ${app:text}', '')}_.\n`,
    );
  });

  it('has a name of its own', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});

describe('the runbook', () => {
  it('has a section for every alert, and for nothing else', () => {
    const sections = headingsIn(runbook)
      .filter(({ title }) => title.startsWith('NewRelic'))
      .map(({ title }) => title);

    expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });

  it.each(alerts)('says what $alert means, what to look at and what to do', ({ alert }) => {
    const section = sectionOf(runbook, alert);

    const parts = [...section.matchAll(/^\*\*([^*]+)\.\*\*/gm)].map(([, part]) => part);

    expect(parts).toEqual(runbookParts);
    expect(codeBlocksIn(section).map(({ language }) => language)).toContain('promql');
  });
});

describe.skipIf(promtool.skip)(`promtool${promtool.note}`, () => {
  it.each(files)('accepts $name', ({ path }) => {
    const { status, text } = run(promtool, ['check', 'rules', '--lint-fatal', path]);

    expect({ status, text }).toMatchObject({ status: 0, text: expect.stringContaining('SUCCESS') });
  });

  it('finds that every rule does what its tests say', () => {
    const { status, text } = run(promtool, ['test', 'rules', ...ruleTestPaths]);

    expect(ruleTestPaths).toHaveLength(7);
    expect(text).not.toContain('FAILED');
    expect(status).toBe(0);
  });
});

describe.skipIf(pint.skip)(`pint${pint.note}`, () => {
  const lint = ['--offline', '--no-color', 'lint', '--min-severity=info', '--fail-on=info'];

  it('has nothing against the rules', () => {
    const { status, text } = run(pint, [...lint, '.']);

    expect(text).toContain(`entries=${alerts.length + recordings.length}`);
    expect(text).not.toContain('--->');
    expect(status).toBe(0);
  });
});
