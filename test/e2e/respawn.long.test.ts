import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import {
  childrenOf,
  freePort,
  get,
  isRunning,
  msUntilEnd,
  type RunningDaemon,
  startDaemon,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';

const key = 'NRAK-RESPAWN';

const configOf = (baseUrl: string): string =>
  `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_env: KEY }\n` +
  'poll: { interval: 1s, discovery_interval: 1s }\napps: [{ match: "." }]\n';

/** A daemon that is started again, and the process id of its child. */
interface Respawned extends RunningDaemon {
  readonly simulator: Simulator;
  readonly configFile: string;
  childId(): number;
}

async function withRespawned(
  use: (daemon: Respawned) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const simulator = createSimulator(
    { apiKeys: [key], ingestDelayMs: 0, fleet: { applications: 1, hosts: 1 } },
    { clock: createSystemClock() },
  );
  const { baseUrl } = await simulator.start();
  const port = await freePort();
  await withFiles({ 'config.yaml': configOf(baseUrl) }, async (directory) => {
    const configFile = `${directory}/config.yaml`;
    const daemon = await startDaemon(
      ['--respawn', `--config.file=${configFile}`, `--web.listen-address=127.0.0.1:${port}`],
      { KEY: key, ...env },
    );
    const childId = (): number => {
      const [pid] = childrenOf(daemon.child.pid);
      if (pid === undefined) throw new Error('there is no child');
      return pid;
    };
    try {
      await use({ ...daemon, url: `http://127.0.0.1:${port}`, simulator, configFile, childId });
    } finally {
      await stopProgram(daemon);
      await simulator.stop();
    }
  });
}

async function isUp(url: string): Promise<true | undefined> {
  const page = await get(`${url}/metrics`).catch(() => undefined);
  return page?.text.includes('newrelic_up{account="one"} 1\n') === true ? true : undefined;
}

describe.skipIf(onLinux.skip)(`a daemon that is started again${onLinux.note}`, () => {
  it('polls again within seconds after its process was killed, and says what happened', async () => {
    await withRespawned(async (daemon) => {
      await until(async () => isUp(daemon.url));
      const first = daemon.childId();
      process.kill(first, 'SIGKILL');
      await until(() => (isRunning(first) ? undefined : true));
      await until(async () => isUp(daemon.url));

      expect(daemon.childId()).not.toBe(first);
      expect(daemon.child.exitCode).toBeNull();
      expect(daemon.stderr()).toMatch(
        /"level":"error".*"signal":"SIGKILL".*"again_in_seconds":1,/u,
      );
      expect(daemon.stderr()).not.toContain(key);
    });
  });

  it.each([{ signal: 'SIGTERM' as const }, { signal: 'SIGINT' as const }])(
    'stops in order with 0 on $signal, and leaves no process',
    async ({ signal }) => {
      await withRespawned(async (daemon) => {
        await until(async () => isUp(daemon.url));
        const child = daemon.childId();
        daemon.child.kill(signal);
        const tookMs = await msUntilEnd(daemon);
        const { code, stderr } = await daemon.ended;

        expect(code).toBe(0);
        expect(tookMs).toBeLessThan(5000);
        expect(stderr).toContain('"msg":"stopping"');
        expect(stderr).not.toContain('starting it again');
        expect(isRunning(child)).toBe(false);
      });
    },
  );

  it('stops in order when parent and child are sent the signal, as a terminal does', async () => {
    await withRespawned(async (daemon) => {
      await until(async () => isUp(daemon.url));
      // A request without an end: a stop in order waits for it for three seconds.
      const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
      await until(async () => isUp(daemon.url));
      const startMs = performance.now();
      process.kill(daemon.childId(), 'SIGINT');
      daemon.child.kill('SIGINT');
      const { code } = await daemon.ended;
      const tookMs = performance.now() - startMs;
      socket.destroy();

      expect(code).toBe(0);
      expect(tookMs).toBeGreaterThan(2500);
      expect(tookMs).toBeLessThan(5000);
    });
  });

  it('kills a child that does not stop, and ends with 0 within five seconds', async () => {
    await withRespawned(async (daemon) => {
      const child = daemon.childId();
      process.kill(child, 'SIGSTOP');
      daemon.child.kill('SIGTERM');
      const tookMs = await msUntilEnd(daemon);
      const { code } = await daemon.ended;

      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(5000);
      await until(() => (isRunning(child) ? undefined : true));
    });
  });

  it('ends at once with its child when it is asked to stop twice', async () => {
    await withRespawned(async (daemon) => {
      const child = daemon.childId();
      process.kill(child, 'SIGSTOP');
      daemon.child.kill('SIGTERM');
      daemon.child.kill('SIGINT');
      const tookMs = await msUntilEnd(daemon);
      const { code } = await daemon.ended;

      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(3000);
      await until(() => (isRunning(child) ? undefined : true));
    });
  });

  it('reloads on SIGHUP in the same process', async () => {
    await withRespawned(async (daemon) => {
      await until(async () => isUp(daemon.url));
      const child = daemon.childId();
      await writeFile(daemon.configFile, 'apps: [{ idd: 1 }]');
      daemon.child.kill('SIGHUP');
      await until(() => (daemon.stderr().includes('"reload failed"') ? true : undefined));

      expect(daemon.stderr()).toContain('"trigger":"signal"');
      expect(daemon.childId()).toBe(child);
    });
  });

  it('ends with its parent, however that ends', async () => {
    await withRespawned(async (daemon) => {
      await until(async () => isUp(daemon.url));
      const child = daemon.childId();
      daemon.child.kill('SIGKILL');
      await until(() => (isRunning(child) ? undefined : true));

      expect(daemon.stderr()).toContain('"msg":"stopping"');
    });
  });
});

describe('a wrong command line with --respawn', () => {
  it('ends with 2 at once', async () => {
    const { code, stderr } = await startProgram(['serve', '--respawn', '--config.wiat']).ended;

    expect(code).toBe(2);
    expect(stderr).toContain('--config.wait');
    expect(stderr).not.toContain('"level"');
  });
});
