import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import {
  childrenOf,
  freePort,
  get,
  mainFile,
  msUntilEnd,
  startDaemon,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';

const key = 'NRAK-PROCESSFAULTS';

function aSimulator(): Simulator {
  return createSimulator(
    { apiKeys: [key], ingestDelayMs: 0, fleet: { applications: 1, hosts: 1 } },
    { clock: createSystemClock() },
  );
}

const configOf = (baseUrl: string): string =>
  `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_env: KEY }\n` +
  'poll: { interval: 1s, discovery_interval: 1s }\napps: [{ match: "." }]\n';

/** How many polls have succeeded. */
async function polls(url: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  return Number(/^newrelic_exporter_polls_total\{account="one"\} (\d+)$/mu.exec(text)?.[1] ?? 0);
}

async function untilPolledMore(url: string, times: number): Promise<void> {
  const before = await polls(url).catch(() => 0);
  await until(async () => ((await polls(url).catch(() => 0)) >= before + times ? true : undefined));
}

/** A vendor, a configuration file that names it, and an end of both. */
async function withVendor(
  use: (configFlag: string, simulator: Simulator) => Promise<void>,
): Promise<void> {
  const simulator = aSimulator();
  const { baseUrl } = await simulator.start();
  try {
    await withFiles({ 'config.yaml': configOf(baseUrl) }, async (directory) =>
      use(`--config.file=${directory}/config.yaml`, simulator),
    );
  } finally {
    await simulator.stop();
  }
}

describe('12 a daemon whose log nobody reads any more', () => {
  it('goes on polling and serving, and stops in order', async () => {
    await withVendor(async (configFlag) => {
      const daemon = await startDaemon([configFlag, '--log.level=debug'], { KEY: key });
      try {
        await untilPolledMore(daemon.url, 1);
        daemon.child.stdout?.destroy();
        daemon.child.stderr?.destroy();
        await untilPolledMore(daemon.url, 3);
      } finally {
        const { code } = await stopProgram(daemon);

        expect(code).toBe(0);
      }
    });
  });
});

describe('12 a daemon whose log is on a disk that is full', () => {
  it('goes on polling and serving, and stops in order', async ({ skip }) => {
    skip(!existsSync('/dev/full'), 'this system has no /dev/full');
    const port = await freePort();
    await withVendor(async (configFlag, simulator) => {
      const full = openSync('/dev/full', 'w');
      const args = [
        'serve',
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=debug',
        configFlag,
      ];
      const child = spawn(process.execPath, [mainFile, ...args], {
        env: { PATH: process.env['PATH'] ?? '', KEY: key },
        stdio: ['ignore', full, full],
      });
      const ended = new Promise<number | null>((resolve) => {
        child.once('exit', resolve);
      });
      closeSync(full);
      try {
        await untilPolledMore(`http://127.0.0.1:${port}`, 3);
      } finally {
        child.kill('SIGTERM');
      }

      expect(await ended).toBe(0);
      expect(simulator.journal.count(({ status }) => status === 200)).toBeGreaterThan(5);
    });
  });
});

describe('a second signal', () => {
  it('ends a stop that somebody does not want to wait for', async () => {
    await withVendor(async (configFlag) => {
      const daemon = await startDaemon([configFlag], { KEY: key });
      await untilPolledMore(daemon.url, 1);
      // A request without an end keeps the server from closing for three seconds.
      const { port } = new URL(daemon.url);
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
      await untilPolledMore(daemon.url, 1);

      daemon.child.kill('SIGTERM');
      await until(() => (daemon.stderr().includes('"stopping"') ? true : undefined));
      daemon.child.kill('SIGINT');
      const tookMs = await msUntilEnd(daemon);
      const { code } = await daemon.ended;
      socket.destroy();

      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(2000);
    });
  });
});

describe('6 SIGUSR1', () => {
  it.each([{ flags: [] }, { flags: ['--respawn'] }])(
    'opens no debugger, with $flags',
    async ({ flags }) => {
      await withVendor(async (configFlag) => {
        const daemon = await startDaemon([configFlag, ...flags], { KEY: key });
        const processes = [Number(daemon.child.pid), ...childrenOf(daemon.child.pid)];
        for (const pid of processes) process.kill(pid, 'SIGUSR1');
        await untilPolledMore(daemon.url, 2);
        const { code, stderr } = await stopProgram(daemon);

        expect(processes).toHaveLength(1 + flags.length);
        expect(code).toBe(0);
        expect(stderr).not.toMatch(/debugger/iu);
      });
    },
  );
});

describe('a fault of our own', () => {
  it.each([
    {
      what: 'a promise that nobody waits for',
      code: 'Promise.reject(new Error("broken " + process.env.KEY))',
    },
    { what: 'an error that nobody catches', code: 'throw new Error("broken " + process.env.KEY)' },
  ])(
    'ends the process with 1 and without the key, so that it is started again: $what',
    async (row) => {
      await withVendor(async (configFlag) => {
        const trap = `process.on('SIGUSR2', () => { ${row.code} })`;
        const daemon = await startDaemon([configFlag], {
          KEY: key,
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(trap)}`,
        });
        await untilPolledMore(daemon.url, 1);
        daemon.child.kill('SIGUSR2');
        const { code, stderr } = await daemon.ended;

        expect(code).toBe(1);
        expect(stderr).toContain('which is a fault of the program');
        expect(stderr).toContain('broken');
        expect(stderr).not.toContain(key);
      });
    },
  );
});
