import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PromtoolTest } from './promtool-test.ts';
import { readRuleFiles } from './rule-files.ts';

/** Alerts of one name that begin to fire in one minute, or end. */
export interface Change {
  readonly alert: string;
  readonly minute: number;
  readonly count: number;
}

export interface Timeline {
  readonly begun: readonly Change[];
  readonly ended: readonly Change[];
}

const firing = 'ALERTS{alertstate="firing"}';
const begun = `count by (alertname) (${firing} unless ${firing} offset 1m)`;
const ended = `count by (alertname) (${firing} offset 1m unless ${firing})`;
/** Of a result that is not empty promtool complains, and says what it is. */
const complaint = /expr: "(.*)", time: (\w+),\s+exp:.*\s+got:(.*)/gu;

/** What Alertmanager would get, minute by minute, from the first one to the last one. */
export function alertTimeline(
  promtoolPath: string,
  series: PromtoolTest['input_series'],
  { lastMinute, interval }: { readonly lastMinute: number; readonly interval: string },
): Timeline {
  const minutes = Array.from({ length: lastMinute }, (_, at) => at + 1);
  const asked = minutes.flatMap((minute) =>
    [begun, ended].map((expr) => ({ expr, eval_time: `${minute}m`, exp_samples: [] })),
  );
  const test: PromtoolTest = { interval, input_series: series, promql_expr_test: asked };
  const complaints = [...outputOf(promtoolPath, test).matchAll(complaint)];
  const changesOf = (isBegun: boolean): readonly Change[] =>
    complaints
      .filter(([, expr = '']) => expr.includes('} unless') === isBegun)
      .flatMap(([, , time = '', got = '']) => changesIn(got, minutesOf(time)));
  return { begun: changesOf(true), ended: changesOf(false) };
}

function outputOf(promtoolPath: string, test: PromtoolTest): string {
  const files = readRuleFiles();
  const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-alerts-'));
  try {
    const tests = {
      rule_files: files.map(({ path }) => path),
      group_eval_order: ['recording', 'exporter', 'applications'].map(
        (name) => `newrelic-exporter.${name}`,
      ),
      evaluation_interval: '1m',
      tests: [test],
    };
    writeFileSync(join(folder, 'test.yaml'), JSON.stringify(tests));
    const { stdout, stderr } = spawnSync(promtoolPath, ['test', 'rules', 'test.yaml'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function changesIn(got: string, minute: number): readonly Change[] {
  return [...got.matchAll(/alertname="(\w+)"\} ([^\s,]+)/gu)].map(([, alert = '', count = '']) => {
    return { alert, minute, count: Number(count) };
  });
}

/** Of a duration as Go writes it, such as `1h5m`. */
function minutesOf(time: string): number {
  const [, hours = '0', minutes = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?/u.exec(time) ?? [];
  return Number(hours) * 60 + Number(minutes);
}
