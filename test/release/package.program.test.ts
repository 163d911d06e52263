import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { node24 } from '../image/stand-in.ts';
import { get, until } from '../support/daemon-process.ts';
import { existingOrSkip } from '../support/tools.ts';
import { copyCheckout } from './checkout.ts';
import { createNpm, type Npm, type Started } from './npm.ts';

/** All that a user gets. What is added here is in everybody's node_modules. */
const files = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'config.example.yaml',
  'config.schema.json',
  'dist-bundle/THIRD_PARTY_LICENSES',
  'dist-bundle/newrelic-exporter.mjs',
  'dist-bundle/sbom.cdx.json',
  'helm/newrelic-exporter/dashboards/application.json',
  'helm/newrelic-exporter/dashboards/exporter.json',
  'helm/newrelic-exporter/dashboards/overview.json',
  'helm/newrelic-exporter/rules/applications.yaml',
  'helm/newrelic-exporter/rules/exporter.yaml',
  'helm/newrelic-exporter/rules/recording.yaml',
  'package.json',
];

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const demo = ['demo', '--web.listen-address=127.0.0.1:0', '--log.format=json'];

/** The port that a started program listens on. */
async function portOf(started: Started): Promise<string> {
  return until(() => {
    if (started.child.exitCode !== null) throw new Error(`it has ended: ${started.output()}`);
    return /"port":(\d+)/u.exec(started.output())?.[1];
  });
}

/** Waits until the demo has values, and gives its page. */
async function pageOf(started: Started): Promise<string> {
  const url = `http://127.0.0.1:${await portOf(started)}/metrics`;
  return until(async () => {
    const { text } = await get(url);
    return text.includes('newrelic_application_requests_per_minute{') ? text : undefined;
  });
}

let directory = '';
let tarball = '';

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'newrelic-exporter-npm-')));
  const checkout = join(directory, 'checkout');
  await copyCheckout(checkout, { fileMode: 0o644, packages: [] });
  await mkdir(join(directory, 'packed'));
  const npm = createNpm(process.execPath, join(directory, 'home'));
  await npm.run(checkout, 'npm', 'pack', '--pack-destination', join(directory, 'packed'));
  tarball = join(directory, 'packed', (await readdir(join(directory, 'packed')))[0] ?? '');
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('what npm pack makes of a checkout', () => {
  it('has the program, its licences and the files to set it up with, and nothing else', async () => {
    const npm = createNpm(process.execPath, join(directory, 'home'));
    const names = await npm.run(directory, 'tar', '--list', '--file', tarball);

    expect(
      names
        .trim()
        .split('\n')
        .map((name) => name.replace(/^package\//u, ''))
        .toSorted(),
    ).toEqual(files);
    expect((await stat(tarball)).size).toBeLessThan(700_000);
  });
});

describe.each([
  { name: 'this Node', node: process.execPath, skip: false, note: '' },
  { name: 'Node 24', node: node24, ...existingOrSkip(node24, 'Node 24', '.ci/run') },
])('the package in an empty folder, on $name', ({ node, skip, note }) => {
  describe.skipIf(skip)(`without a network${note}`, () => {
    let npm: Npm;
    let folder = '';
    let installed = '';
    const startProgram = (...args: readonly string[]): Started => {
      const started = npm.start(folder, 'node_modules/.bin/newrelic-exporter', ...args);
      onTestFinished(() => {
        started.child.kill('SIGKILL');
      });
      return started;
    };

    beforeAll(async () => {
      folder = await mkdtemp(join(directory, 'empty-'));
      npm = createNpm(node, join(folder, 'home'));
      await npm.run(folder, 'npm', 'install', tarball);
      installed = join(folder, 'node_modules/newrelic-exporter');
    });

    it('is one package, which runs nothing when it is installed', async () => {
      const manifest = JSON.parse(
        await readFile(join(installed, 'package.json'), 'utf8'),
      ) as Manifest;
      const packages = (await readdir(join(folder, 'node_modules'))).filter(
        (name) => !name.startsWith('.'),
      );

      expect(packages).toEqual(['newrelic-exporter']);
      expect(manifest).not.toHaveProperty('dependencies');
      expect(manifest).not.toHaveProperty('private');
      expect(
        Object.keys(manifest.scripts).filter((name) =>
          /^(?:pre|post)?(?:install|prepare)$/u.test(name),
        ),
      ).toEqual([]);
    });

    it('serves the demo by npx until Ctrl-C, which ends all its processes', async () => {
      const started = npm.start(folder, 'npx', 'newrelic-exporter', ...demo);
      const group = -(started.child.pid ?? Number.NaN);
      onTestFinished(() => {
        if (started.child.exitCode === null && started.child.signalCode === null) {
          process.kill(group, 'SIGKILL');
        }
      });
      const page = await pageOf(started);
      // What a terminal does: it tells npx, its shell and the program.
      process.kill(group, 'SIGINT');
      // It has ended when no process has its output open any more.
      await started.ended;

      expect(page).toContain('newrelic_application_host_requests_per_minute{');
      expect(started.output()).toContain('"stopping"');
    });

    it('checks passwords, in a thread that is the same file', async () => {
      const web = join(folder, 'web.yaml');
      await writeFile(web, `basic_auth_users: { prometheus: '${hashSync('right', 4)}' }\n`);
      const key = join(folder, 'newrelic.key');
      await writeFile(key, `NRAK-${'A'.repeat(27)}\n`, { mode: 0o600 });
      const config = join(folder, 'nowhere.yaml');
      await writeFile(
        config,
        `accounts: [{ name: one, base_url: 'http://127.0.0.1:1', api_key_file: ${key} }]\napps: [{ id: 1 }]\n`,
      );
      const started = startProgram(
        `--config.file=${config}`,
        `--web.config.file=${web}`,
        '--web.listen-address=127.0.0.1:0',
        '--log.format=json',
      );
      const port = await portOf(started);
      const statusWith = async (password: string): Promise<number> => {
        const authorization = `Basic ${btoa(`prometheus:${password}`)}`;
        const url = `http://127.0.0.1:${port}/metrics`;
        return (await fetch(url, { headers: { authorization, connection: 'close' } })).status;
      };

      expect([await statusWith('right'), await statusWith('wrong')]).toEqual([200, 401]);
      started.child.kill('SIGTERM');
      expect(await started.ended).toBe(0);
    });
  });
});
