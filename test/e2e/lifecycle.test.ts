import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import {
  freePort,
  get,
  msUntilEnd,
  type RunningDaemon,
  startDaemon,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';

const key = 'NRAK-LIFECYCLE';

function aSimulator(options: SimulatorOptions = {}): Simulator {
  return createSimulator(
    {
      apiKeys: [key],
      ingestDelayMs: 0,
      fleet: {
        traffic: 'flat',
        applications: [
          { id: 101, name: 'shop', kind: 'web', webRpm: 120, hosts: [{ id: 1011, name: 'h1' }] },
        ],
      },
      ...options,
    },
    { clock: createSystemClock() },
  );
}

function accountYaml(name: string, baseUrl: string, variable = 'KEY'): string {
  return `  - name: ${name}\n    base_url: ${baseUrl}\n    api_key_env: ${variable}\n`;
}

async function isReady(daemon: RunningDaemon): Promise<true | undefined> {
  return (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined;
}

describe('the daemon, when the vendor cannot be reached at the start', () => {
  it('starts, is healthy but not ready, says why, and recovers by itself', async () => {
    const port = await freePort();
    const config = `accounts:\n${accountYaml('one', `http://127.0.0.1:${port}`)}apps: [{ id: 101 }]\n`;
    await withFiles({ 'config.yaml': config }, async (directory) => {
      const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], { KEY: key });
      const simulator = aSimulator({ port });
      try {
        await until(() => (daemon.stderr().includes('discovery failed') ? true : undefined));
        const healthy = await get(`${daemon.url}/-/healthy`);
        const ready = await get(`${daemon.url}/-/ready`);
        const metrics = await get(`${daemon.url}/metrics`);
        await simulator.start();
        await until(() => isReady(daemon));
        const recovered = await get(`${daemon.url}/metrics`);

        expect(healthy.status).toBe(200);
        expect(ready.status).toBe(503);
        expect(JSON.parse(ready.text)).toMatchObject({ ready: false, accounts: [{ name: 'one' }] });
        expect(ready.text).toContain(`127.0.0.1:${port}`);
        expect(metrics.text).toContain('newrelic_up{account="one"} 0\n');
        expect(metrics.text).toMatch(/failures_total\{[^}]*reason="connect"[^}]*\} [1-9]/u);
        expect(recovered.text).toContain('newrelic_up{account="one"} 1\n');
        expect(recovered.text).toMatch(/newrelic_application_requests_per_minute\{.*\} 120\n/u);
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });
});

describe('the daemon with two accounts', () => {
  it('goes on with the good one when the other one has a wrong key, and is ready', async () => {
    const simulator = aSimulator();
    const { baseUrl } = await simulator.start();
    const accounts = accountYaml('good', baseUrl) + accountYaml('bad', baseUrl, 'WRONG');
    const config = `accounts:\n${accounts}apps:\n  - { id: 101, account: good }\n  - { id: 101, account: bad }\n`;
    await withFiles({ 'config.yaml': config }, async (directory) => {
      const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], {
        KEY: key,
        WRONG: 'NRAK-WRONG',
      });
      try {
        await until(() => isReady(daemon));
        const { text } = await get(`${daemon.url}/metrics`);

        expect(text).toContain('newrelic_up{account="good"} 1\n');
        expect(text).toContain('newrelic_up{account="bad"} 0\n');
        expect(text).toMatch(/failures_total\{account="bad",[^}]*reason="auth"\} 1\n/u);
        expect(text).toMatch(/_requests_per_minute\{account="good",.*\} 120\n/u);
        expect(text).not.toMatch(/newrelic_application_\w+\{account="bad"/u);
      } finally {
        await stopProgram(daemon);
        await simulator.stop();
      }
    });
  });
});

describe('the daemon, when it is asked to stop', () => {
  it('leaves at once with 0 while it waits for its configuration', async () => {
    const daemon = await startDaemon(['--config.wait', '--config.file=/nowhere/config.yaml']);
    await until(() => (daemon.stderr().includes('no usable configuration') ? true : undefined));
    daemon.child.kill('SIGTERM');
    const tookMs = await msUntilEnd(daemon);
    const { code } = await daemon.ended;

    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(2000);
  });

  it.each([{ signal: 'SIGTERM' as const }, { signal: 'SIGINT' as const }])(
    'answers scrapes until the end and leaves with 0 on $signal, although the vendor hangs',
    async ({ signal }) => {
      const hanging = createServer(() => {});
      const port = await freePort();
      await new Promise<void>((resolve) => {
        hanging.listen(port, '127.0.0.1', resolve);
      });
      const config = `accounts:\n${accountYaml('one', `http://127.0.0.1:${port}`)}apps: [{ id: 101 }]\n`;
      await withFiles({ 'config.yaml': config }, async (directory) => {
        const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], { KEY: key });
        const statuses: number[] = [];
        const failures: string[] = [];
        let isStopping = false;
        const scraping = (async () => {
          while (daemon.child.exitCode === null) {
            try {
              statuses.push((await get(`${daemon.url}/metrics`)).status);
            } catch (error) {
              const cause = error instanceof Error ? error.cause : undefined;
              const code =
                cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
              // A connection that the system had taken when the listener closed is reset: that is the end.
              if (isStopping && ['ECONNREFUSED', 'ECONNRESET'].includes(code)) break;
              failures.push(code);
            }
            await delay(2);
          }
        })();
        await until(() => (statuses.length > 5 ? true : undefined));

        isStopping = true;
        daemon.child.kill(signal);
        const tookMs = await msUntilEnd(daemon);
        const { code } = await daemon.ended;
        await scraping;
        hanging.closeAllConnections();
        hanging.close();

        expect(code).toBe(0);
        expect(tookMs).toBeLessThan(5000);
        expect(new Set(statuses)).toEqual(new Set([200]));
        expect(failures).toEqual([]);
      });
    },
  );
});

describe('once', () => {
  it.each([
    { what: 'everything arrives', app: 'id: 101', code: 0, missing: false },
    { what: 'a configured application is missing', app: 'id: 999', code: 1, missing: true },
  ])('prints the exposition and leaves with $code when $what', async ({ app, code, missing }) => {
    const simulator = aSimulator();
    const { baseUrl } = await simulator.start();
    const config = `accounts:\n${accountYaml('one', baseUrl)}apps: [{ ${app} }]\n`;
    await withFiles({ 'config.yaml': config }, async (directory) => {
      const ended = await startProgram(['once', `--config.file=${directory}/config.yaml`], {
        KEY: key,
      }).ended;
      await simulator.stop();

      expect(ended.code).toBe(code);
      expect(ended.stdout).toContain('newrelic_up{account="one"} 1\n');
      expect(ended.stdout.includes(' 120\n')).toBe(!missing);
      expect(
        ended.stdout.includes('newrelic_exporter_app_missing{account="one",selector="id=999"} 1'),
      ).toBe(missing);
    });
  });
});
