import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goToolOrSkip } from '../support/go-tool.ts';
import { chart } from './chart.ts';

const helmDocs = goToolOrSkip('helm-docs');

describe.skipIf(helmDocs.skip)(`README.md of the chart${helmDocs.note}`, () => {
  it('is what helm-docs makes of README.md.gotmpl and values.yaml', () => {
    const made = execFileSync(
      helmDocs.path,
      ['--dry-run', '--log-level=error', `--chart-search-root=${chart}`],
      { encoding: 'utf8' },
    );

    expect(readFileSync(join(chart, 'README.md'), 'utf8').trim()).toBe(made.trim());
  });
});
