import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goToolOrSkip } from '../support/go-tool.ts';
import { chart } from './chart.ts';

const helmUnittest = goToolOrSkip('helm-unittest');

describe.skipIf(helmUnittest.skip)(`the chart's own tests${helmUnittest.note}`, () => {
  it('pass by helm-unittest', () => {
    const suites = readdirSync(join(chart, 'unittests')).filter((name) =>
      name.endsWith('_test.yaml'),
    );

    const { status, stdout, stderr } = spawnSync(
      helmUnittest.path,
      ['--strict', '--file=unittests/*_test.yaml', chart],
      { encoding: 'utf8' },
    );

    expect(`${stdout}${stderr}`).not.toMatch(/FAIL|error/iu);
    expect(stdout).toContain(`${suites.length} passed, ${suites.length} total`);
    expect(suites.length).toBeGreaterThanOrEqual(7);
    expect(status).toBe(0);
  });
});
