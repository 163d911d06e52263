import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run as runCommand } from '../../src/cli/run.ts';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { shopAndCart } from '../support/shop-and-cart.ts';
import { eachAfter } from '../support/slow.ts';
import { projectFolder, readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';
import { codeBlocksIn } from './markdown.ts';

const key = 'NRAK-ABCDEFGHIJKLMNOPQRSTUVWXYZ1';
const folder = '.config/newrelic-exporter';

function aHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'newrelic-exporter-home-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true });
  });
  return home;
}

function run(command: string, args: readonly string[], home: string, input = ''): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const result = spawnSync(command, args, { cwd: projectFolder, env, input, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return result.status === 0 ? result.stdout : `status ${result.status}: ${result.stderr}`;
}

/** The commands of the quick start that put the key into its file. */
function storingTheKey(text: string): string {
  const block = codeBlocksIn(text).find(({ text: body }) => body.includes('install -m 600'));
  const lines = block?.text.split('\n').filter((line) => !line.startsWith('npm ci')) ?? [];
  return lines.join('\n');
}

describe.each(['README.md', 'docs/getting-started.md'])('the quick start of %s', (path) => {
  const { text } = readDocument(path);
  const configs = goodConfigsIn(text).filter((config) => config.includes('newrelic.key'));

  it('stores the key outside of the checkout, for its owner only', () => {
    const home = aHome();

    expect(run('sh', ['-euc', storingTheKey(text)], home, `${key}\n`)).toBe('');

    const { mode, size } = statSync(join(home, folder, 'newrelic.key'));
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(size).toBe(key.length + 1);
    expect(existsSync(join(projectFolder, 'newrelic.key'))).toBe(false);
  });

  it('has configurations that find the key beside them', async () => {
    const home = aHome();
    run('sh', ['-euc', storingTheKey(text)], home, `${key}\n`);
    const file = join(home, folder, 'config.yaml');
    expect(configs.length).toBeGreaterThan(0);

    for (const config of configs) {
      const platform = {
        ...createFakePlatform(),
        readFile: async (name: string) => readFile(name),
      };
      writeFileSync(file, config);
      const exitCode = await runCommand(['check-config', file], platform);

      expect({ exitCode, said: platform.stderr.text() }).toEqual({ exitCode: 0, said: '' });
    }
  });
});

/** The commands in their order, without the one that runs for ever. */
function commandsOf(text: string): string {
  const lines = codeBlocksIn(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text: body }) => body.split('\n'));
  const isEnding = /^(?:export |node dist\/main\.js \w)/u;
  return lines.filter((line) => isEnding.test(line)).join('\n');
}

/** What starts Node.js with a wall clock that is so much ahead. */
function laterBy(ms: number): string {
  const trap = `const now = Date.now;
    Date.now = () => now() + ${ms};
    globalThis.Date = new Proxy(Date, {
      construct: (Real, given) => (given.length === 0 ? new Real(Real.now()) : new Real(...given)),
    });`;
  return `--import=data:text/javascript,${encodeURIComponent(trap)}`;
}

describe('the quick start of README.md, pasted', () => {
  const { text } = readDocument('README.md');
  const config = goodConfigsIn(text).find((one) => one.includes('newrelic.key')) ?? '';

  eachAfter(1, [
    { day: '2027-01-31', warnings: 0 },
    { day: '2027-02-01', warnings: 1 },
    { day: '2027-08-01', warnings: 1 },
  ])('shows the applications of an account that has none of its names on $day', async (on) => {
    const system = createSystemClock();
    const shiftMs = Date.parse(`${on.day}T10:00:30Z`) - system.wallMs();
    const simulator = shopAndCart(key, { ...system, wallMs: () => system.wallMs() + shiftMs });
    const { baseUrl } = await simulator.start();
    onTestFinished(async () => simulator.stop());
    const home = aHome();
    run('sh', ['-euc', storingTheKey(text)], home, `${key}\n`);
    expect(config).toMatch(/region: us\b/u);
    const addressed = config.replace(/region: us\b/u, `base_url: ${baseUrl}`);
    writeFileSync(join(home, folder, 'config.yaml'), addressed);

    const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', commandsOf(text)], {
      cwd: projectFolder,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, NODE_OPTIONS: laterBy(shiftMs) },
    });

    const counted = on.warnings === 1 ? '1 warning' : '0 warnings';
    expect(stdout).toContain(`config.yaml: ok, 1 account, 1 entry of apps, ${counted}\n`);
    for (const { id, name } of simulator.fleet.applications()) {
      expect(stdout).toContain(`  - id: ${id} # ${name}`);
      expect(stdout).toContain(
        `newrelic_application_requests_per_minute{account="production",app_id="${id}"`,
      );
    }
    expect(stderr).not.toMatch(/"level":"(?:warn|error)"/u);
  });
});

describe('.gitignore', () => {
  it.each(['newrelic.key', 'production.key', 'config.yaml'])('has %s', (path) => {
    const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], {
      cwd: projectFolder,
    });

    expect(status).toBe(0);
  });

  it('leaves the examples of the repository alone', () => {
    const { status } = spawnSync(
      'git',
      ['check-ignore', '--quiet', '--no-index', 'config.example.yaml'],
      { cwd: projectFolder },
    );

    expect(status).toBe(1);
  });
});

describe('docs/getting-started.md', () => {
  it('names dashboards that exist', () => {
    const { text } = readDocument('docs/getting-started.md');
    const named = text.match(/helm\/[\w/-]+\.json/g) ?? [];

    expect(named).toHaveLength(3);
    expect(named.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });
});
