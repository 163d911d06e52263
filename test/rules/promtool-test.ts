import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One test of `promtool test rules`, as its documentation has it. */
export interface PromtoolTest {
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test?: readonly object[];
  readonly promql_expr_test?: readonly object[];
}

/** What promtool says against a test, given rules in groups; empty if it passes. */
export function promtoolComplaint(
  promtoolPath: string,
  test: PromtoolTest,
  groups: readonly object[] = [],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-promtool-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups }));
    const tests = { rule_files: ['rules.yaml'], evaluation_interval: test.interval, tests: [test] };
    writeFileSync(join(folder, 'test.yaml'), JSON.stringify(tests));
    const { status, stdout, stderr } = spawnSync(promtoolPath, ['test', 'rules', 'test.yaml'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
