import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectFolder } from '../docs/documents.ts';
import { goToolOrSkip } from '../support/go-tool.ts';

const actionlint = goToolOrSkip('actionlint');
const folder = join(projectFolder, '.github/workflows');
const files = readdirSync(folder).map((name) => ({ name, path: join(folder, name) }));

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly uses?: string }[] }>
  >;
}

describe('the workflows', () => {
  it.skipIf(actionlint.skip)(`are in order for actionlint${actionlint.note}`, () => {
    const { stdout, status } = spawnSync(
      actionlint.path,
      ['-no-color', ...files.map((f) => f.path)],
      {
        encoding: 'utf8',
        cwd: projectFolder,
      },
    );

    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it.each(files)(
    '$name says that it has not run, asks for little and pins its actions',
    ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const workflow = parse(text) as Workflow;
      const uses = Object.values(workflow.jobs)
        .flatMap(({ steps }) => steps)
        .flatMap((step) => step.uses ?? []);

      expect(text).toMatch(/^# Not yet run/u);
      expect(Object.values(workflow.permissions ?? { all: 'write' })).not.toContain('write');
      expect(uses.filter((action) => !/@(?:v\d+(?:\.\d+)*|[0-9a-f]{40})$/u.test(action))).toEqual(
        [],
      );
    },
  );
});
