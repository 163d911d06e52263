import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder } from '../docs/documents.ts';
import { httpsServer, proxyServer } from '../newrelic/calls/loopback-server.ts';
import { childrenOf, get, until, withFiles } from '../support/daemon-process.ts';
import { importedPackages } from '../support/product-packages.ts';

const execute = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** What of CycloneDX the tests read. */
interface Sbom {
  readonly metadata: { readonly component: Omit<Manifest, 'license'> };
  readonly components: readonly {
    readonly name: string;
    readonly version?: string;
    readonly purl: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

async function makeBundle(output: string): Promise<void> {
  await execute(process.execPath, [join(projectFolder, 'scripts/bundle.mjs'), output]);
}

/** Starts the bundle away from the project, where no package can be found. */
function start(file: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [file, ...args], { cwd: tmpdir(), env, stdio: 'pipe' });
}

const fixtures = join(projectFolder, 'test/newrelic/calls/fixtures');
const tlsKey = async (): Promise<string> => readFile(join(fixtures, 'test-only-key.pem'), 'utf8');
const tlsCert = async (): Promise<string> =>
  readFile(join(fixtures, 'test-only-certificate.pem'), 'utf8');

/** Makes this Node look like one of Debian 12, which lacks what the bundle loads modules with. */
const anOldNode = [
  "Object.defineProperty(process, 'version', { value: 'v18.20.8' });",
  'process.getBuiltinModule = undefined;',
].join('\n');

describe('the bundle', () => {
  let directory = '';
  let file = '';
  const run = async (...args: readonly string[]): Promise<string> =>
    (await execute(process.execPath, [file, ...args], { cwd: directory })).stdout;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-bundle-'));
    await makeBundle(join(directory, 'one'));
    file = join(directory, 'one/newrelic-exporter.mjs');
  });

  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  it('has the same bytes when it is made again', async () => {
    await makeBundle(join(directory, 'two'));

    const names = await readdir(join(directory, 'one'));
    const contents = async (folder: string): Promise<readonly string[]> =>
      Promise.all(names.map(async (name) => readFile(join(directory, folder, name), 'utf8')));
    expect(names.toSorted()).toStrictEqual([
      'THIRD_PARTY_LICENSES',
      'newrelic-exporter.mjs',
      'newrelic-exporter.mjs.map',
      'sbom.cdx.json',
    ]);
    expect(await contents('two')).toStrictEqual(await contents('one'));
  });

  it('does not name the folder it was made in', async () => {
    const text = await readFile(file, 'utf8');
    const map = await readFile(`${file}.map`, 'utf8');

    expect(`${text}${map}`).not.toContain(projectFolder);
    expect(`${text}${map}`).not.toContain(directory);
  });

  it('comes with the licence of every package in it', async () => {
    const licences = await readFile(join(directory, 'one/THIRD_PARTY_LICENSES'), 'utf8');
    const headings = await Promise.all(
      importedPackages().map(async (name) => {
        const path = join(projectFolder, 'node_modules', name, 'package.json');
        const { version, license } = JSON.parse(await readFile(path, 'utf8')) as Manifest;
        return `${name} ${version} (${license})\n`;
      }),
    );

    expect(headings.length).toBeGreaterThan(5);
    expect(headings.filter((heading) => !`\n${licences}`.includes(`\n${heading}`))).toEqual([]);
    expect(licences).not.toContain('without the text of its licence');
  });

  it('comes with a list of the packages in it that scanners can read', async () => {
    const licences = await readFile(join(directory, 'one/THIRD_PARTY_LICENSES'), 'utf8');
    const sbom = JSON.parse(await readFile(join(directory, 'one/sbom.cdx.json'), 'utf8')) as Sbom;
    const { name, version } = sbom.metadata.component;
    const listed = sbom.components.map((one) => `${one.name} ${one.version ?? 'inside undici'}`);

    expect(`newrelic-exporter, version ${version}`).toBe(
      (await run('--version')).split(' (revision')[0],
    );
    expect(name).toBe('newrelic-exporter');
    expect(listed.length).toBeGreaterThan(importedPackages().length);
    expect(listed).toEqual(
      [...licences.matchAll(/^(\S+ (?:\d+\.\d+\.\d+|inside undici)) \(.+\)$/gmu)].map(
        ([, heading]) => heading,
      ),
    );
    const purls = sbom.components.map(({ purl }) => purl);
    expect(purls).toContain(`pkg:npm/%40pinojs/redact@${sbom.components[0]?.version}`);
    expect(purls.join(' ')).not.toContain('opentelemetry');
  });

  it('says what hash each package has, and which needs which, the HTTP parser of undici too', async () => {
    const licences = await readFile(join(directory, 'one/THIRD_PARTY_LICENSES'), 'utf8');
    const sbom = JSON.parse(await readFile(join(directory, 'one/sbom.cdx.json'), 'utf8')) as Sbom;
    const lock = JSON.parse(await readFile(join(projectFolder, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
    };
    const needed = new Set(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn));
    const undici = sbom.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/undici@'));
    const withoutHash = sbom.components.filter(({ name, hashes = [] }) => {
      const [hash] = hashes;
      const base64 = Buffer.from(hash?.content ?? '', 'hex').toString('base64');
      const integrity = lock.packages[`node_modules/${name}`]?.integrity;
      return hash?.alg !== 'SHA-512' || `sha512-${base64}` !== integrity;
    });

    expect(withoutHash.map(({ name }) => name)).toEqual(['llhttp']);
    expect(undici?.dependsOn).toEqual(['pkg:github/nodejs/llhttp']);
    expect(sbom.components.filter(({ purl }) => !needed.has(purl))).toEqual([]);
    expect(sbom.dependencies).toHaveLength(1 + sbom.components.length);
    expect(licences).toContain('llhttp inside undici (MIT)\n\nThis software is licensed under');
    expect(licences).toContain('Copyright Fedor Indutny, 2018.');
  });

  it.each([
    { args: ['--version'], shows: /^newrelic-exporter, version / },
    { args: ['--help'], shows: /healthcheck/ },
    { args: ['config-schema'], shows: /"\$schema"/ },
  ])('runs $args', async ({ args, shows }) => {
    expect(await run(...args)).toMatch(shows);
  });

  it('tells an old Node from the first line on', async () => {
    await withFiles({ 'old.cjs': anOldNode }, async (folder) => {
      const old = execute(process.execPath, ['--require', `${folder}/old.cjs`, file]);

      await expect(old).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^newrelic-exporter needs Node.js .* is v18\.20\.8: .*\n$/u),
      });
    });
  });

  it('logs in the pretty form, and polls and serves the demo', async () => {
    const demo = start(
      file,
      ['demo', '--web.listen-address=127.0.0.1:0', '--log.format=pretty'],
      {},
    );
    let log = '';
    demo.stderr?.on('data', (part: Buffer) => (log += part.toString()));
    try {
      const port = await until(() => /"port":(\d+)/u.exec(log)?.[1]);
      const page = await until(async () => {
        const { text } = await get(`http://127.0.0.1:${port}/metrics`);
        return text.includes('newrelic_application_requests_per_minute{') ? text : undefined;
      });
      demo.kill('SIGTERM');
      await once(demo, 'close');

      expect(page).toContain('process_cpu_seconds_total');
      expect(log).toMatch(/INFO.*listening/u);
      expect(demo.exitCode).toBe(0);
    } finally {
      demo.kill('SIGKILL');
    }
  });

  it('runs as a child that is started again, which is the same file', async () => {
    const args = ['serve', '--respawn', '--config.wait', '--config.file=/nowhere'];
    const parent = start(file, [...args, '--web.listen-address=127.0.0.1:0'], {});
    let log = '';
    parent.stderr?.on('data', (part: Buffer) => (log += part.toString()));
    const starts = (): number => log.split('"listening"').length - 1;
    try {
      await until(() => (starts() === 1 ? true : undefined));
      const [child = 0] = childrenOf(parent.pid);
      process.kill(child, 'SIGKILL');
      await until(() => (starts() === 2 ? true : undefined));
      parent.kill('SIGTERM');
      await once(parent, 'close');

      expect(log).toContain('starting it again');
      expect(parent.exitCode).toBe(0);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('calls over TLS, through the tunnel of a proxy', async () => {
    const paths: (string | undefined)[] = [];
    const vendor = await httpsServer(
      { key: await tlsKey(), cert: await tlsCert() },
      (request, response) => {
        paths.push(request.url);
        response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":{}}');
      },
    );
    const tunnels: (string | undefined)[] = [];
    const proxy = await proxyServer(
      (request, client) => {
        tunnels.push(request.url);
        const onward = connect(vendor.port, '127.0.0.1', () => {
          client.write('HTTP/1.1 200 OK\r\n\r\n');
          onward.pipe(client).pipe(onward);
        });
      },
      (_request, response) => response.writeHead(500).end(),
    );
    const config = [
      'accounts:',
      '  - name: one',
      `    base_url: https://localhost:${vendor.port}`,
      '    api_key_env: KEY',
      `    proxy_url: http://127.0.0.1:${proxy.port}`,
      '    ca_file: ca.pem',
      'apps: [{ id: 1 }]',
      '',
    ].join('\n');

    const files = { 'config.yaml': config, 'ca.pem': await tlsCert() };
    const output = await withFiles(files, async (folder) => {
      const poll = start(file, ['once', `--config.file=${folder}/config.yaml`], { KEY: 'NRAK-X' });
      let text = '';
      poll.stderr?.on('data', (part: Buffer) => (text += part.toString()));
      await once(poll, 'close');
      return text;
    });

    expect(new Set(tunnels)).toStrictEqual(new Set([`localhost:${vendor.port}`]));
    expect(paths[0]).toMatch(/^\/v2\/applications\.json/u);
    expect(output).toContain('401');
  });
});
