import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

  it.each(files)('$name says that it has not run, and asks for little', ({ path }) => {
    const { text, workflow } = read(path);

    expect(text).toMatch(/^# Not yet run/u);
    expect(Object.values(workflow.permissions ?? { all: 'write' })).not.toContain('write');
  });

  it.each(files)('$name pins every action by its commit, and names the version', ({ path }) => {
    const { text } = read(path);
    const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses: (?!\.\/)/u.test(line));

    expect(uses.length).toBeGreaterThan(0);
    expect(
      uses.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u.test(line)),
    ).toEqual([]);
  });

  it('pin one action by one commit', () => {
    const uses = files.flatMap(({ path }) =>
      stepsOf(read(path).workflow).flatMap((s) => s.uses ?? []),
    );
    const actions = new Set([...new Set(uses)].map((action) => action.split('@')[0]));

    expect(new Set(uses).size).toBe(actions.size);
  });

  it.each(files)('$name runs only scripts that are there', ({ path }) => {
    const run = scriptsOf(read(path).workflow);
    const named = run.flatMap((text) => text.match(/(?<![\w/])(?:\.ci|scripts)\/[\w.-]+/gu) ?? []);

    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((script) => !existsSync(join(projectFolder, script)))).toEqual([]);
  });

  it.each(files)('$name puts nothing from outside into the text of a script', ({ path }) => {
    expect(scriptsOf(read(path).workflow).filter((text) => text.includes('${{'))).toEqual([]);
  });
});

describe('release.yaml', () => {
  const { text, workflow } = read(join(folder, 'release.yaml'));
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

  it('checks tag, versions, repository and changelog where nothing can be published yet', () => {
    const run = (jobs['packages']?.steps ?? []).flatMap((step) => step.run ?? []);

    expect(run).toEqual(
      expect.arrayContaining([
        'git merge-base --is-ancestor "$GITHUB_SHA" origin/main',
        'node scripts/check-versions.mjs --tag="$GITHUB_REF_NAME" --repository="$GITHUB_REPOSITORY"',
        'node scripts/release-notes.mjs "${GITHUB_REF_NAME#v}"',
        'node scripts/make-packages.mjs packages',
      ]),
    );
  });

  it('runs no package of npm in a job that may publish', () => {
    const run = ['image', 'chart', 'npm', 'release'].flatMap((name) =>
      (jobs[name]?.steps ?? []).flatMap((step) => step.run ?? []),
    );

    expect(
      run.filter((script) => /\bnp[mx] (?!publish\b.* --ignore-scripts$)/u.test(script)),
    ).toEqual([]);
  });

  it('publishes to npm what was checked, with provenance and without a token', () => {
    const steps = jobs['npm']?.steps ?? [];
    const secrets = [...text.matchAll(/secrets\.(\w+)/gu)].map(([, name]) => name);

    expect(steps.map(({ run }) => run).at(-1)).toBe(
      'npm publish "./packages/npm/newrelic-exporter-$VERSION.tgz" --provenance --access public --ignore-scripts',
    );
    expect(new Set(secrets)).toEqual(new Set(['GITHUB_TOKEN']));
  });

  it('signs and attests the image and the chart by their digests', () => {
    for (const name of ['image', 'chart']) {
      const steps = jobs[name]?.steps ?? [];
      const attest = steps.find(({ uses }) =>
        (uses ?? '').startsWith('actions/attest-build-provenance@'),
      );

      expect(steps.flatMap(({ run }) => run ?? []).join('\n')).toMatch(/cosign sign --yes .*@\$/u);
      expect(attest?.with).toMatchObject({
        'subject-digest': expect.stringMatching(/\.outputs\.digest \}\}$/u) as unknown,
        'push-to-registry': true,
      });
    }
  });

  it('packs with the version of Helm that the tests use', () => {
    const module = readFileSync(join(projectFolder, '.ci/tools.d/helm4/go.mod'), 'utf8');
    const versions = [...text.matchAll(/setup-helm@.*\n\s+with:\n\s+version: (\S+)/gu)];

    expect(versions).toHaveLength(2);
    for (const [, version] of versions) expect(module).toContain(`helm.sh/helm/v4 ${version}`);
  });

  it('tells Artifact Hub about the repository with a file that is there', () => {
    const push = scriptsOf(workflow).find((script) => script.includes('oras push')) ?? '';
    const [, file = ''] = /(\S+\.yml):application\/vnd\.cncf\.artifacthub/u.exec(push) ?? [];
    const path = join(projectFolder, 'helm', file);

    expect(existsSync(path)).toBe(true);
    expect(parse(readFileSync(path, 'utf8'))).toEqual({ owners: [{ name: 'newrelic-exporter' }] });
  });
});
