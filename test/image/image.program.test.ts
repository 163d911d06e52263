import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, get, until } from '../support/daemon-process.ts';
import { shopAndCart } from '../support/shop-and-cart.ts';
import { skipUnless, toolOrSkip } from '../support/tools.ts';
import { type BuiltImage, buildImage } from './buildah.ts';
import { type Container, createContainer } from './container.ts';
import { node24, outputOf } from './stand-in.ts';

const buildah = toolOrSkip('buildah');
const isRoot = process.getuid?.() === 0;
const reasons = [
  ...(buildah.skip ? ['buildah is not in PATH'] : []),
  ...(existsSync(node24) ? [] : ['.ci/run has not fetched Node 24']),
  ...(isRoot ? [] : ['it needs root']),
];
const { skip, note } = skipUnless(
  reasons.length === 0 || process.env['CI'] === 'true',
  reasons.join(', '),
  '.ci/run as root',
);

const apiKey = 'NRAK-IMAGE';
const main = '/app/newrelic-exporter.mjs';

const configOf = (baseUrl: string, id: number): string =>
  [
    'accounts:',
    `  - { name: one, base_url: "${baseUrl}", api_key_file: /var/run/secrets/newrelic/api-key }`,
    `apps: [{ id: ${id} }]`,
    '',
  ].join('\n');

/** Swaps the contents as the kubelet does: a new folder, and a symbolic link renamed onto the old. */
async function putVolume(volume: string, files: Readonly<Record<string, string>>): Promise<void> {
  const version = `..${performance.now()}`;
  await mkdir(join(volume, version), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(volume, version, name), text, { mode: 0o444 });
    if (!existsSync(join(volume, name))) await symlink(`..data/${name}`, join(volume, name));
  }
  await symlink(version, join(volume, '..data_tmp'));
  await rename(join(volume, '..data_tmp'), join(volume, '..data'));
}

async function shows(url: string, id: number): Promise<true | undefined> {
  const { text } = await get(`${url}/metrics`).catch(() => ({ text: '' }));
  const series = `newrelic_application_requests_per_minute{account="one",app_id="${id}"`;
  return text.includes(series) ? true : undefined;
}

describe.skipIf(skip)(`the image built from the Dockerfile${note}`, () => {
  let directory = '';
  let image: BuiltImage;
  let container: Container;
  let root = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-image-'));
    await chmod(directory, 0o755);
    image = await buildImage(directory);
    root = await image.mount();
    const { config } = (await image.inspect()).OCIv1;
    container = await createContainer({
      root,
      config: join(directory, 'config'),
      secret: join(directory, 'secret'),
      environment: config.Env,
    });
  });

  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it('runs the bundle as a numeric user, with labels, port and health check', async () => {
    const { OCIv1, Docker } = await image.inspect();

    expect(OCIv1.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/nodejs/bin/node', main],
      ExposedPorts: { '9126/tcp': {} },
      Labels: {
        'org.opencontainers.image.title': 'newrelic-exporter',
        'org.opencontainers.image.revision': '0123abc',
        'org.opencontainers.image.licenses': 'MIT',
      },
    });
    expect(OCIv1.config.Cmd ?? []).toStrictEqual([]);
    expect(Docker.config.Healthcheck?.Test).toStrictEqual([
      'CMD',
      '/nodejs/bin/node',
      main,
      'healthcheck',
    ]);
  });

  it('holds the bundle and the licences, and neither npm nor sources nor the secret', async () => {
    const unwanted = ['build', 'app/node_modules', 'usr/local/bin/npm', 'root/.npmrc', 'bin/sh'];

    expect((await readdir(join(root, 'app'))).toSorted()).toStrictEqual([
      'LICENSE',
      'THIRD_PARTY_LICENSES',
      'newrelic-exporter.mjs',
      'newrelic-exporter.mjs.map',
      'sbom.cdx.json',
    ]);
    expect(unwanted.filter((path) => existsSync(join(root, path)))).toStrictEqual([]);
  });

  it('holds the same bytes as a bundle made elsewhere, with other packages and another Node', async () => {
    const bundle = join(directory, 'bundle');
    await outputOf(process.execPath, ['scripts/bundle.mjs', bundle]);
    for (const name of await readdir(bundle)) {
      const [shipped, made] = await Promise.all(
        [join(root, 'app', name), join(bundle, name)].map(async (path) => readFile(path)),
      );
      expect({ name, isSame: shipped?.equals(made ?? Buffer.alloc(0)) }).toEqual({
        name,
        isSame: true,
      });
    }
  });

  it('serves, reloads and stops as user 65532 on a read-only root without capabilities', async () => {
    const simulator = shopAndCart(apiKey);
    const { baseUrl } = await simulator.start();
    await putVolume(join(directory, 'secret'), { 'api-key': apiKey });
    await putVolume(join(directory, 'config'), { 'config.yaml': configOf(baseUrl, 101) });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    let log = '';
    let daemon: ChildProcess | undefined;
    try {
      daemon = container.start([
        main,
        `--web.listen-address=127.0.0.1:${port}`,
        '--config.auto-reload-interval=1s',
      ]);
      daemon.stderr?.on('data', (part: Buffer) => (log += part.toString()));
      await until(async () => shows(url, 101));
      const status = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
      const healthy = await container.run([main, 'healthcheck', `--url=${url}/-/healthy`]);
      const unhealthy = await container.run([main, 'healthcheck', `--url=${url}/nothing`]);
      const writes = await container.run(['-e', 'fs.writeFileSync("/app/x", "")']);
      await putVolume(join(directory, 'config'), { 'config.yaml': configOf(baseUrl, 102) });
      await until(async () => shows(url, 102));
      const { text: page } = await get(`${url}/metrics`);
      daemon.kill('SIGTERM');
      await once(daemon, 'close');

      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/mu);
      expect(status).toMatch(/^Gid:\t65532\t65532\t65532\t65532$/mu);
      expect(status).toMatch(/^CapEff:\t0+$/mu);
      expect(status).toMatch(/^CapPrm:\t0+$/mu);
      expect(status).toMatch(/^NoNewPrivs:\t1$/mu);
      expect(healthy).toStrictEqual({ code: 0, output: '' });
      expect(unhealthy.code).toBe(1);
      expect(writes.output).toContain('EROFS');
      expect(page).toContain('revision="0123abc"');
      expect(page).not.toContain('app_id="101"');
      expect(daemon.exitCode).toBe(0);
      expect(log).not.toContain(apiKey);
    } finally {
      daemon?.kill('SIGKILL');
      await simulator.stop();
    }
  });
});
