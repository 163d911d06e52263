import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { writeWhole } from '../../src/tools/write-whole.ts';
import { temporaryDirectory } from './backfill/backfill-bench.ts';
import { type Printed, printedBy } from './survey/ask-bench.ts';

const title = '# What New Relic answers: newrelic-exporter 0.0.1\n';
const never = new AbortController().signal;
const certificate = readFileSync('test/newrelic/calls/fixtures/test-only-certificate.pem', 'utf8');

const commands = {
  backfill: ['backfill', '--from=2026-09-01T09:50:00Z', '--to=2026-09-01T10:00:00Z'],
  verify: ['verify'],
} as const;
type Writing = keyof typeof commands;

interface Configured extends Printed {
  readonly files: Readonly<Record<string, string>>;
}

/** Runs a command in a directory with a configuration that names files, all of which are there. */
async function ranIn(
  directory: string,
  command: Writing,
  output: string,
  more: readonly string[] = [],
): Promise<Configured> {
  const named = {
    'config.yaml': `include: ["teams/*.yaml"]
accounts: [{ name: main, base_url: "http://127.0.0.1", account_id: 1234567, source: nerdgraph, api_key_file: newrelic.key, proxy_url_file: proxy.url, ca_file: ca.pem }]
`,
    'teams/shop.yaml': 'apps: [{ match: "." }]\n',
    'newrelic.key': 'NRAK-GOOD',
    'proxy.url': 'http://127.0.0.1:3128',
    'ca.pem': certificate,
  };
  const pairs = Object.entries(named).map(([name, text]) => [join(directory, name), text] as const);
  await mkdir(join(directory, 'teams'), { recursive: true });
  for (const [path, text] of pairs) await writeFile(path, text, { mode: 0o600 });
  const files = Object.fromEntries(pairs);
  const [word, ...flags] = commands[command];
  const args = [word, join(directory, 'config.yaml'), ...flags, `--output=${output}`, ...more];
  const options = { fleet: { applications: 2, hosts: 2 }, ingestDelayMs: 0 };
  return { ...(await printedBy(options, args, files)), files };
}

/** What makes a path of some kind in a directory, and gives it. */
type Make = (directory: string) => Promise<string>;

function made(name: string, make: (path: string) => Promise<unknown>): Make {
  return async (directory) => {
    const path = join(directory, name);
    await make(path);
    return path;
  };
}

const named = (name: string): Make => made(name, async () => undefined);
const linked = (to: string, how: typeof link): Make =>
  made('report.md', async (path) => {
    await writeFile(join(path, '..', to), title, { mode: 0o600 });
    await how(join(path, '..', to), path);
  });

const kinds: Readonly<Record<string, { readonly make: Make; readonly says: string }>> = {
  'standard output': { make: async () => '-', says: '--output=- is not possible' },
  'a file of somebody else': {
    make: made('report.md', async (path) => writeFile(path, 'mine')),
    says: 'is there, and not of this run: name another file, or take it away',
  },
  'an empty file': {
    make: made('report.md', async (path) => writeFile(path, '')),
    says: 'is there, and not of this run',
  },
  'a directory': { make: made('d', async (path) => mkdir(path)), says: 'is a directory' },
  'a pipe': {
    make: made('pipe', async (path) => execFileSync('mkfifo', [path])),
    says: 'is no regular file',
  },
  'the configuration': { make: named('config.yaml'), says: 'belongs to the configuration' },
  'the configuration by another path': {
    make: named('teams/../config.yaml'),
    says: 'belongs to the configuration',
  },
  'what the configuration includes': {
    make: named('teams/shop.yaml'),
    says: 'belongs to the configuration',
  },
  'the key': { make: named('newrelic.key'), says: 'belongs to the configuration' },
  'the address of a proxy': { make: named('proxy.url'), says: 'belongs to the configuration' },
  'a CA file': { make: named('ca.pem'), says: 'belongs to the configuration' },
  'the configuration through a linked directory': {
    make: async (directory) => {
      await symlink('.', join(directory, 'here'));
      return join(directory, 'here', 'config.yaml');
    },
    says: 'belongs to the configuration',
  },
  'a directory of the configuration': {
    make: made('teams', async (path) => mkdir(path)),
    says: 'is a directory',
  },
  'a link to a directory': {
    make: made('report.md', async (path) => symlink('.', path)),
    says: 'is a directory',
  },
  'a link to itself': {
    make: made('report.md', async (path) => symlink('report.md', path)),
    says: 'is a link to nothing',
  },
  'a link to a file of somebody else': {
    make: made('report.md', async (path) => {
      await writeFile(join(path, '..', 'mine'), 'mine');
      await symlink('mine', path);
    }),
    says: 'is there, and not of this run',
  },
  'a device': { make: async () => '/dev/null', says: 'is no regular file' },
  'a link to the key': {
    make: linked('newrelic.key', symlink),
    says: 'belongs to the configuration',
  },
  'another name of the key': {
    make: linked('newrelic.key', link),
    says: 'belongs to the configuration',
  },
  'a link to nothing': {
    make: made('report.md', async (path) => symlink('nowhere', path)),
    says: 'is a link to nothing',
  },
  'a directory that is not there': {
    make: named('a/b/report.md'),
    says: 'a/b: make it first',
  },
  'a file for a directory': { make: named('newrelic.key/x'), says: 'newrelic.key: make it first' },
  'where nobody can write': { make: async () => '/proc/report.md', says: '/proc/report.md' },
};

const rows = Object.entries(kinds).flatMap(([kind, row]) =>
  Object.keys(commands).map((command) => ({ kind, command: command as Writing, ...row })),
);

describe('a command that writes a file', () => {
  it('is one of those that are tried here', () => {
    const flags: readonly { readonly name: string }[] = Object.values(flagTable);
    const writing = flags.flatMap(({ name }) => /^(\w+)\.output$/u.exec(name)?.[1] ?? []);

    expect(writing).toEqual(Object.keys(commands));
  });

  it.each(rows)(
    'does not write over or into $kind, says so, and asks nothing: $command',
    async ({ make, says, command }) => {
      const directory = await temporaryDirectory();
      const path = await make(directory);
      const before = await readdir(directory).then((names) => new Set(names));
      const { exitCode, stderr, calls, files } = await ranIn(directory, command, path);
      const ofConfiguration = new Set([
        'ca.pem',
        'config.yaml',
        'newrelic.key',
        'proxy.url',
        'teams',
      ]);

      expect({ exitCode, calls, stderr }).toMatchObject({ exitCode: 2, calls: 0 });
      expect(stderr).toContain(says);
      for (const [name, text] of Object.entries(files)) {
        expect(await readFile(name, 'utf8')).toBe(text);
        expect((await stat(name)).mode & 0o777).toBe(0o600);
      }
      const left = (await readdir(directory)).filter((name) => !before.has(name));
      expect(left.filter((name) => !ofConfiguration.has(name))).toEqual([]);
    },
  );

  it('keeps the configuration and its title apart, even when it begins like a report', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'config.yaml');
    await writeFile(path, `${title}apps: [{ match: "." }]\n`);
    const files = { [path]: await readFile(path, 'utf8') };
    const args = ['verify', path, `--output=${path}`];
    const { exitCode, calls } = await printedBy({}, args, files);

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(await readFile(path, 'utf8')).toBe(files[path]);
  });

  it.each([
    { before: undefined, mode: 0o600 },
    { before: 0o640, mode: 0o640 },
    { before: 0o664, mode: 0o664 },
  ])('replaces a report, and keeps its mode: $before', async ({ before, mode }) => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'report.md');
    if (before !== undefined) {
      await writeFile(path, title);
      execFileSync('chmod', [before.toString(8), path]);
    }
    const { exitCode } = await ranIn(directory, 'verify', path);

    expect(exitCode).toBeLessThan(2);
    expect(await readFile(path, 'utf8')).toMatch(/^# What New Relic answers: .*\n(?:.*\n)+## acc/u);
    expect((await stat(path)).mode & 0o777).toBe(mode);
    expect((await readdir(directory)).filter((name) => name.includes('report'))).toEqual([
      'report.md',
    ]);
  });

  it('replaces a report behind a link, and leaves the link', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'old.md'), title);
    await symlink('old.md', join(directory, 'report.md'));
    await ranIn(directory, 'verify', join(directory, 'report.md'));

    expect(await readFile(join(directory, 'old.md'), 'utf8')).toContain('## account-1');
  });

  it('gives what is new the permissions that every new file has', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'usual'), '');
    await ranIn(directory, 'backfill', join(directory, 'past.om'));
    const [usual, past] = await Promise.all(
      ['usual', 'past.om'].map(async (name) => (await stat(join(directory, name))).mode),
    );

    expect(past).toBe(usual);
  });

  it('takes no report for a past', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'report.md');
    await writeFile(path, title);
    const { exitCode, calls } = await ranIn(directory, 'backfill', path);

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(await readFile(path, 'utf8')).toBe(title);
  });
});

describe('writing a file whole', () => {
  it('leaves alone what has come while it was written', async () => {
    const path = join(await temporaryDirectory(), 'past.om');
    const pieces = async function* (): AsyncGenerator<string> {
      yield 'one';
      await writeFile(path, 'mine');
      yield 'two';
    };

    await expect(writeWhole(path, pieces(), never, { isNew: true })).rejects.toThrow(
      'is there, and was not a moment ago',
    );
    expect(await readFile(path, 'utf8')).toBe('mine');
    expect(await readdir(join(path, '..'))).toEqual(['past.om']);
  });

  it('has a name for each writer, so that two do not meet in one file', async () => {
    const path = join(await temporaryDirectory(), 'a');
    const text = (letter: string): readonly string[] => Array.from({ length: 1000 }, () => letter);
    await Promise.all(['x', 'y'].map(async (one) => writeWhole(path, text(one), never)));

    expect(await readFile(path, 'utf8')).toMatch(/^(?:x{1000}|y{1000})$/u);
  });
});
