import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goToolOrSkip } from '../support/go-tool.ts';
import { chart } from './chart.ts';

const helmUnittest = goToolOrSkip('helm-unittest');
const helmDocs = goToolOrSkip('helm-docs');

describe('the chart', () => {
  it.skipIf(helmUnittest.skip)(`passes its own tests by helm-unittest${helmUnittest.note}`, () => {
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
    expect(status).toBe(0);
  });

  it.skipIf(helmDocs.skip)(`has the README that helm-docs makes of it${helmDocs.note}`, () => {
    const made = execFileSync(
      helmDocs.path,
      ['--dry-run', '--log-level=error', `--chart-search-root=${chart}`],
      { encoding: 'utf8' },
    );

    expect(readFileSync(join(chart, 'README.md'), 'utf8').trim()).toBe(made.trim());
  });
});
