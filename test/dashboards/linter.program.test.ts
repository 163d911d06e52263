import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { goToolOrSkip } from '../support/go-tool.ts';
import { dashboardFiles } from './dashboard-files.ts';

const linter = goToolOrSkip('dashboard-linter');

describe.skipIf(linter.skip)(`dashboard-linter${linter.note}`, () => {
  it.each(dashboardFiles)('has nothing against $name', ({ path }) => {
    const exceptions = new URL('dashboard-linter.yaml', import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(
      linter.path,
      ['lint', '--strict', '--config', exceptions, path],
      { encoding: 'utf8' },
    );

    expect({ status, output: `${stdout}${stderr}` }).toEqual({
      status: 0,
      output: expect.not.stringContaining('❌'),
    });
  });
});
