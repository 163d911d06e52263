import { readFileSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { httpsServer } from '../newrelic/calls/loopback-server.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { shopAndCart } from '../support/shop-and-cart.ts';

const configOf = (baseUrl: string, id: number): string =>
  `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_env: KEY }\napps: [{ id: ${id} }]\n`;

async function shows(url: string, applicationId: number): Promise<true | undefined> {
  const { text } = await get(`${url}/metrics`);
  const isShown = text.includes(
    `newrelic_application_requests_per_minute{account="one",app_id="${applicationId}"`,
  );
  return isShown ? true : undefined;
}

describe('8.1 8.4 a running daemon', () => {
  it('takes another configuration by POST and by SIGHUP, and refuses a broken one', async () => {
    const simulator = shopAndCart('NRAK-RELOAD');
    const { baseUrl } = await simulator.start();
    await withFiles({ 'config.yaml': configOf(baseUrl, 101) }, async (directory) => {
      const file = `${directory}/config.yaml`;
      const daemon = await startDaemon([`--config.file=${file}`, '--web.enable-lifecycle'], {
        KEY: 'NRAK-RELOAD',
      });
      try {
        await until(async () => shows(daemon.url, 101));
        await writeFile(file, 'apps: [{ idd: 1 }]');
        const broken = await get(`${daemon.url}/-/reload`, 'POST');
        const afterBroken = await get(`${daemon.url}/metrics`);
        await writeFile(file, configOf(baseUrl, 102));
        const good = await get(`${daemon.url}/-/reload`, 'POST');
        await until(async () => shows(daemon.url, 102));
        const asGet = await get(`${daemon.url}/-/reload`);
        await writeFile(file, configOf(baseUrl, 101));
        daemon.child.kill('SIGHUP');
        await until(async () => shows(daemon.url, 101));
        const afterAll = await get(`${daemon.url}/metrics`);

        expect(broken.status).toBe(500);
        expect(broken.text).toContain('config.yaml:1:10');
        expect(afterBroken.text).toContain('config_last_reload_successful 0\n');
        expect(afterBroken.text).toContain('app_id="101"');
        expect(good.status).toBe(200);
        expect(asGet.status).toBe(405);
        expect(afterAll.text).toContain('config_last_reload_successful 1\n');
        expect(afterAll.text).not.toContain('app_id="102"');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });

  it('goes on without a broken included file, and hears of it when it is mended', async () => {
    const simulator = shopAndCart('NRAK-RELOAD');
    const { baseUrl } = await simulator.start();
    const main = `accounts: [{ name: one, base_url: "${baseUrl}", api_key_env: KEY }]\ninclude: ["teams/*.yaml"]\n`;
    await withFiles({ 'config.yaml': main }, async (directory) => {
      await mkdir(`${directory}/teams`);
      const team = async (name: string, text: string): Promise<void> =>
        writeFile(`${directory}/teams/${name}.yaml`, text);
      await team('a', 'apps: [{ idd: 101 }]');
      await team('b', 'apps: [{ id: 102 }]');
      const args = [`--config.file=${directory}/config.yaml`, '--web.enable-lifecycle'];
      const daemon = await startDaemon([...args, '--config.auto-reload-interval=1s'], {
        KEY: 'NRAK-RELOAD',
      });
      try {
        await until(async () => shows(daemon.url, 102));
        const started = await get(`${daemon.url}/metrics`);
        const page = await get(`${daemon.url}/`);
        const reload = await get(`${daemon.url}/-/reload`, 'POST');
        await team('a', 'apps: [{ id: 101 }]');
        await until(async () => shows(daemon.url, 101));
        await team('a', 'apps: [{ id: 101, hosts: maybe }]');
        await team('b', 'queries: []');
        const isOn = 'config_file_broken{';
        await until(async () => {
          const { text } = await get(`${daemon.url}/metrics`);
          return text.includes(isOn) ? true : undefined;
        });
        const kept = await get(`${daemon.url}/metrics`);

        for (const { text } of [started, kept]) {
          expect(text).toContain(`${isOn}file="${directory}/teams/a.yaml"} 1\n`);
          expect(text).toContain('config_last_reload_successful 0\n');
        }
        expect(page.text).toContain('teams/a.yaml:1:10: unknown key &quot;idd&quot;');
        expect(reload.status).toBe(500);
        expect(reload.text).toContain('teams/a.yaml:1:10: unknown key "idd"');
        expect(kept.text).toContain('app_id="101"');
        expect(kept.text).not.toContain('app_id="102"');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });

  it("follows a ConfigMap's swap of symbolic links without being told", async () => {
    const simulator = shopAndCart('NRAK-RELOAD');
    const { baseUrl } = await simulator.start();
    await withFiles({}, async (directory) => {
      for (const [name, id] of [
        ['..old', 101],
        ['..new', 102],
      ] as const) {
        await mkdir(`${directory}/${name}`);
        await writeFile(`${directory}/${name}/config.yaml`, configOf(baseUrl, id));
      }
      await symlink('..old', `${directory}/..data`);
      await symlink('..data/config.yaml', `${directory}/config.yaml`);
      const daemon = await startDaemon(
        [`--config.file=${directory}/config.yaml`, '--config.auto-reload-interval=1s'],
        { KEY: 'NRAK-RELOAD' },
      );
      try {
        await until(async () => shows(daemon.url, 101));
        await symlink('..new', `${directory}/..data_tmp`);
        await rename(`${directory}/..data_tmp`, `${directory}/..data`);
        await until(async () => shows(daemon.url, 102));
        const forbidden = await get(`${daemon.url}/-/reload`, 'POST');

        expect(forbidden.status).toBe(403);
        expect(forbidden.text).toContain('--web.enable-lifecycle');
        expect((await get(`${daemon.url}/metrics`)).text).not.toContain('app_id="101"');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });

  it('follows the files of teams, each a ConfigMap: one comes, is broken, loses an entry', async () => {
    const simulator = shopAndCart('NRAK-RELOAD');
    const { baseUrl } = await simulator.start();
    const main = `${configOf(baseUrl, 1).split('apps:')[0]}include: [teams/*/*.yaml]\n`;
    await withFiles({ 'config.yaml': main }, async (directory) => {
      /** As the kubelet does: a directory with a new content, and a link that is swapped. */
      const mount = async (team: string, version: number, text: string): Promise<void> => {
        const at = `${directory}/teams/${team}`;
        await mkdir(`${at}/..${version}`, { recursive: true });
        await writeFile(`${at}/..${version}/apps.yaml`, text);
        await symlink(`..${version}`, `${at}/..data_tmp`);
        await rename(`${at}/..data_tmp`, `${at}/..data`);
        if (version === 1) await symlink('..data/apps.yaml', `${at}/apps.yaml`);
      };
      await mount('payments', 1, 'apps: [{ id: 101 }]\n');
      const daemon = await startDaemon(
        [`--config.file=${directory}/config.yaml`, '--config.auto-reload-interval=1s'],
        { KEY: 'NRAK-RELOAD' },
      );
      const page = async (path: string): Promise<string> => (await get(daemon.url + path)).text;
      try {
        await until(async () => shows(daemon.url, 101));
        await mount('search', 1, 'apps: [{ id: 102 }]\n');
        await until(async () => shows(daemon.url, 102));
        await mount('payments', 2, 'apps:\n  - { idd: 101 }\n');
        await until(() => (daemon.stderr().includes('included file broken') ? true : undefined));
        const afterBroken = await page('/metrics');
        const [broken, active] = [await page('/'), await page('/config?format=yaml')];
        await mount('payments', 3, 'apps: []\n');
        await until(async () =>
          (await page('/metrics')).includes('app_id="101"') ? undefined : true,
        );

        expect(daemon.stderr()).toContain(`${directory}/teams/payments/apps.yaml:2:7: unknown key`);
        expect(afterBroken).toContain('config_last_reload_successful 0\n');
        expect(afterBroken).toContain('app_id="101"');
        expect(afterBroken).toContain('app_id="102"');
        expect(broken).toContain('teams/payments/apps.yaml:2:7');
        expect(broken).toContain('2 included files');
        expect(active).toContain(`#   ${directory}/teams/search/apps.yaml\n`);
        expect(await page('/metrics')).toContain('app_id="102"');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });

  it('trusts what is in the CA bundle now, after a reload of the same configuration', async () => {
    const fixture = (name: string): string =>
      readFileSync(
        new URL(`../newrelic/calls/fixtures/test-only-${name}.pem`, import.meta.url),
        'utf8',
      );
    const [key, cert] = [fixture('key'), fixture('certificate')];
    const simulator = shopAndCart('NRAK-RELOAD');
    const server = await httpsServer({ key, cert }, (request, response) => {
      simulator.handle(request, response);
    });
    const config = configOf(`https://localhost:${server.port}`, 101).replace(
      'api_key_env: KEY',
      'api_key_env: KEY, ca_file: ca.pem',
    );
    const files = { 'config.yaml': config, 'ca.pem': rootCertificates[0] ?? '' };
    await withFiles(files, async (directory) => {
      const daemon = await startDaemon(
        [`--config.file=${directory}/config.yaml`, '--config.auto-reload-interval=0'],
        { KEY: 'NRAK-RELOAD' },
      );
      try {
        await until(() => (daemon.stderr().includes('discovery failed') ? true : undefined));
        const before = await get(`${daemon.url}/metrics`);
        await writeFile(`${directory}/ca.pem`, cert);
        daemon.child.kill('SIGHUP');
        await until(async () => shows(daemon.url, 101));

        expect(before.text).toContain('newrelic_up{account="one"} 0\n');
        expect(daemon.stderr()).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });
});
