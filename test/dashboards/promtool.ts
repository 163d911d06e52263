import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The samples of series in promtool's notation, such as `1x20` or `1x5 stale`. */
export type SeriesInput = Readonly<Record<string, string>>;
/** What an expression must give: values by labels. */
export type Samples = Readonly<Record<string, number>>;

export interface Question {
  readonly expr: string;
  readonly series: SeriesInput;
  readonly samples: Samples;
  /** How long after the first sample, such as `1m`. */
  readonly at: string;
  /** Between two samples. */
  readonly interval: string;
}

/** What promtool says against the samples; empty if it agrees. */
export function complaint(promtoolPath: string, question: Question): string {
  const { expr, series, samples, at, interval } = question;
  const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-promtool-'));
  const test = {
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr,
        eval_time: at,
        exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
      },
    ],
  };
  try {
    const path = join(folder, 'test.yaml');
    writeFileSync(path, JSON.stringify({ evaluation_interval: interval, tests: [test] }));
    const { status, stdout, stderr } = spawnSync(promtoolPath, ['test', 'rules', path], {
      encoding: 'utf8',
    });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
