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

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

function read(path: string): { readonly text: string; readonly workflow: Workflow } {
  const text = readFileSync(path, 'utf8');
  return { text, workflow: parse(text) as Workflow };
}

function stepsOf(workflow: Workflow): readonly Step[] {
  return Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps);
}

function scriptsOf(workflow: Workflow): readonly string[] {
  return stepsOf(workflow).flatMap(({ run = [] }) => run);
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

  it.each(files)('$name pins every action by its commit, and names the version', ({ path }) => {
    const { text } = read(path);
    const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses: (?!\.\/)/u.test(line));

    expect(uses.length).toBeGreaterThan(0);
    expect(
      uses.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u.test(line)),
    ).toEqual([]);
  });

  it.each(files)('$name puts nothing from outside into the text of a script', ({ path }) => {
    expect(scriptsOf(read(path).workflow).filter((text) => text.includes('${{'))).toEqual([]);
  });
});

describe('release.yaml', () => {
  const { workflow } = read(join(folder, 'release.yaml'));
  const { jobs } = workflow;

  /** All jobs that must have succeeded before this one begins. */
  function before(name: string): ReadonlySet<string> {
    const direct = [jobs[name]?.needs ?? []].flat();
    return new Set([...direct, ...direct.flatMap((one) => [...before(one)])]);
  }

  it('gives each job only the rights that it needs', () => {
    expect(
      Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions])),
    ).toEqual({
      verify: { contents: 'read' },
      packages: { contents: 'read' },
      image: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
      chart: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
      npm: { 'id-token': 'write' },
      release: { contents: 'write' },
    });
  });

  it('publishes nothing before all checks have passed, and npm after all that can be taken back', () => {
    const publishing = Object.keys(jobs).filter((name) =>
      Object.values(jobs[name]?.permissions ?? {}).includes('write'),
    );

    expect(jobs['verify']?.uses).toBe('./.github/workflows/ci.yaml');
    expect(publishing).toEqual(['image', 'chart', 'npm', 'release']);
    for (const name of publishing) {
      expect([...before(name)]).toEqual(expect.arrayContaining(['verify', 'packages']));
    }
    expect([...before('npm')]).toEqual(expect.arrayContaining(['image', 'chart']));
    expect([...before('release')]).toContain('npm');
  });

  it('runs no package of npm in a job that may publish', () => {
    const run = ['image', 'chart', 'npm', 'release'].flatMap((name) =>
      (jobs[name]?.steps ?? []).flatMap((step) => step.run ?? []),
    );

    expect(
      run.filter((script) => /\bnp[mx] (?!publish\b.* --ignore-scripts$)/u.test(script)),
    ).toEqual([]);
  });
});
