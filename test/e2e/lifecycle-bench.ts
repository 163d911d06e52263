import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import {
  freePort,
  get,
  msUntilEnd,
  startDaemon,
  startProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';

const key = 'NRAK-LIFECYCLE';

function aSimulator(): Simulator {
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
    },
    { clock: createSystemClock() },
  );
}

function accountYaml(name: string, baseUrl: string): string {
  return `  - name: ${name}\n    base_url: ${baseUrl}\n    api_key_env: KEY\n`;
}

/** The daemon is asked to stop while it is scraped, and New Relic hangs. */
export async function expectScrapedToTheEnd(signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
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
          const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
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
}

/** What `once` is asked for, and how it ends. */
export interface OnceCase {
  readonly app: string;
  readonly code: number;
  readonly missing: boolean;
}

export async function expectOnce({ app, code, missing }: OnceCase): Promise<void> {
  const simulator = aSimulator();
  const { baseUrl } = await simulator.start();
  const config = `accounts:\n${accountYaml('one', baseUrl)}apps: [{ ${app} }]\n`;
  await withFiles({ 'config.yaml': config }, async (directory) => {
    const ended = await startProgram(['once', '--all', `--config.file=${directory}/config.yaml`], {
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
}
