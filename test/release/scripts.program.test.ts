import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projectFolder } from '../docs/documents.ts';

const execute = promisify(execFile);

/** The files that name the version. */
const files = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'Dockerfile',
  'README.md',
  'docs/kubernetes.md',
  'src/daemon/build.ts',
  'helm/newrelic-exporter/Chart.yaml',
  'helm/newrelic-exporter/values.yaml',
];

type Change = Readonly<{ file: string; from: string | RegExp; to: string }>;

/** A folder with the files that name the version, changed. */
async function aRelease(...changes: readonly Change[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-release-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await copyFile(join(projectFolder, file), join(folder, file));
  }
  for (const { file, from, to } of changes) {
    const text = await readFile(join(folder, file), 'utf8');
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`nothing to change in ${file}`);
    await writeFile(join(folder, file), changed);
  }
  return folder;
}

async function run(cwd: string, script: string, ...args: readonly string[]): Promise<string> {
  const path = join(projectFolder, 'scripts', script);
  return (await execute(process.execPath, [path, ...args], { cwd })).stdout;
}

const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')) as {
  readonly version: string;
};

/** What is not released yet becomes the version of the package. */
const released: Change = {
  file: 'CHANGELOG.md',
  from: /^# Changelog\n[\s\S]*?(?=^\* )/mu,
  to: `# Changelog\n\n## ${version} / 2026-11-30\n\n`,
};

describe('scripts/check-versions.mjs', () => {
  it('prints the version of this checkout, which all files name', async () => {
    expect(await run(projectFolder, 'check-versions.mjs')).toBe(`${version}\n`);
  });

  it('accepts the tag and the repository of a release', async () => {
    const folder = await aRelease(released);
    const args = [`--tag=v${version}`, '--repository=newrelic-exporter/newrelic-exporter'];

    expect(await run(folder, 'check-versions.mjs', ...args)).toBe(`${version}\n`);
  });

  it.each<{ change: Change; problem: string }>([
    {
      change: { file: 'src/daemon/build.ts', from: /(?<=version = ')[^']+/u, to: '9.9.9' },
      problem: 'src/daemon/build.ts: version is 9.9.9',
    },
    {
      change: { file: 'README.md', from: `Version ${version} contains`, to: 'It contains' },
      problem: 'README.md: status is missing',
    },
  ])('says $problem', async ({ change, problem }) => {
    const folder = await aRelease(change);

    await expect(run(folder, 'check-versions.mjs')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(problem) as unknown,
    });
  });

  it.each([
    { args: ['--tag=v9.9.9'], problem: `the tag is v9.9.9, but package.json has ${version}` },
    { args: [`--tag=${version}`], problem: `the tag ${version} is not like v1.2.3` },
    { args: ['--repository=somebody/fork'], problem: 'package.json: has no line with' },
  ])('refuses $args', async ({ args, problem }) => {
    const folder = await aRelease(released);

    await expect(run(folder, 'check-versions.mjs', ...args)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(problem) as unknown,
    });
  });

  it('refuses to release while the changelog has changes without a version', async () => {
    const folder = await aRelease(released, {
      file: 'CHANGELOG.md',
      from: /^# Changelog\n/u,
      to: '# Changelog\n\n## Unreleased\n\n* [BUGFIX] One more.\n',
    });

    await expect(run(folder, 'check-versions.mjs', `--tag=v${version}`)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('CHANGELOG.md: the first heading is Unreleased') as unknown,
    });
  });
});

describe('scripts/release-notes.mjs', () => {
  const changelog = [
    '# Changelog',
    '## 1.2.3 / 2026-12-01',
    '* [FEATURE] New.',
    '',
    '* [BUGFIX] Mended.',
    '',
    '## 1.2.2 / 2026-11-30',
    '* [CHANGE] Old.',
    '## 1.2.1 / 2026-11-29',
    '',
  ].join('\n');

  it.each([
    { asked: '1.2.3', notes: '* [FEATURE] New.\n\n* [BUGFIX] Mended.\n' },
    { asked: '1.2.2', notes: '* [CHANGE] Old.\n' },
  ])('prints what the changelog says of $asked', async ({ asked, notes }) => {
    const folder = await aRelease({ file: 'CHANGELOG.md', from: /^[\s\S]*$/u, to: changelog });

    expect(await run(folder, 'release-notes.mjs', asked)).toBe(notes);
  });

  it.each(['1.2.1', '1.2', '9.9.9', ''])(
    'fails for "%s", of which it says nothing',
    async (asked) => {
      const folder = await aRelease({ file: 'CHANGELOG.md', from: /^[\s\S]*$/u, to: changelog });

      await expect(run(folder, 'release-notes.mjs', asked)).rejects.toMatchObject({
        code: 1,
        stderr: `CHANGELOG.md says nothing of version "${asked}"\n`,
      });
    },
  );
});
