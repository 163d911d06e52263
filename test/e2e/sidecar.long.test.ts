import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { sleep } from '../../src/model/clock.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import {
  childrenOf,
  freePort,
  get,
  isRunning,
  type Program,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';

const key = 'NRAK-SIDECAR';
const certificate = rootCertificates[0] ?? '';

const configOf = (vendorPort: number, match = '.'): string =>
  `accounts:\n  - { name: one, base_url: "http://127.0.0.1:${vendorPort}", api_key_file: key, ` +
  'ca_file: ca.pem, timeout: 1s }\n' +
  `poll: { interval: 1s, discovery_interval: 1s }\napps: [{ match: "${match}" }]\n`;

/** Where a container is to run. All is good, until a fault breaks something. */
interface Place {
  /** Of one of its files. */
  readonly path: (name: string) => string;
  readonly port: number;
  readonly vendorPort: number;
  /** The vendor, which does not run yet. */
  readonly simulator: Simulator;
}

interface Scene extends Place {
  readonly program: Program;
  /** Resolves when the log holds the words. */
  readonly said: (words: string) => Promise<unknown>;
  /** Resolves when the metrics show a vendor that answers. */
  readonly polled: () => Promise<unknown>;
  /** The process that polls. */
  readonly daemonId: () => number;
}

interface Fault {
  readonly what: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Breaks something before the container starts; gives what happens while it runs, and mends it. */
  readonly strike: (place: Place) => Promise<(scene: Scene) => Promise<unknown>>;
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Takes all that its heap may have, in the process that polls and in no other. */
const glutton =
  'if (process.send) process.on("SIGUSR2", () => { const all = []; for (;;) all.push([{}]); })';

/** A file that is replaced until the log has the words. */
function wrongFile(
  name: string,
  replace: (path: string) => Promise<unknown>,
  words: string,
): Fault['strike'] {
  return async ({ path }) => {
    await rename(path(name), path('elsewhere'));
    await replace(path(name));
    return async ({ said }) => {
      await said(words);
      await rm(path(name), { recursive: true, force: true });
      await rename(path('elsewhere'), path(name));
    };
  };
}

const lookEveryMs = 50;

const faults: readonly Fault[] = [
  // The longest first: several run at a time.
  {
    what: 'its daemon is killed three times',
    strike:
      async () =>
      async ({ daemonId, polled }) => {
        for (const _ of [1, 2, 3]) {
          await polled();
          const pid = daemonId();
          process.kill(pid, 'SIGKILL');
          await until(() => (isRunning(pid) ? undefined : true));
        }
      },
  },
  {
    what: 'its daemon stands still thirty times',
    strike:
      async () =>
      async ({ daemonId, polled }) => {
        await polled();
        const pid = daemonId();
        for (let times = 0; times < 30; times += 1) {
          process.kill(pid, 'SIGSTOP');
          await sleep(createSystemClock(), lookEveryMs, new AbortController().signal);
          process.kill(pid, 'SIGCONT');
          await sleep(createSystemClock(), lookEveryMs, new AbortController().signal);
        }
        await polled();
        expect(daemonId()).toBe(pid);
      },
  },
  {
    what: 'its vendor never answers',
    strike: async ({ simulator, vendorPort }) => {
      await simulator.stop();
      const silent = createServer((socket) => {
        socket.on('error', () => undefined);
        silent.once('close', () => socket.destroy());
        silent.once('end', () => socket.destroy());
      });
      await listen(silent, vendorPort);
      return async ({ said }) => {
        await said('discovery failed');
        silent.emit('end');
        silent.close();
        await simulator.start();
      };
    },
  },
  {
    what: 'its port is taken by somebody else',
    strike: async ({ port }) => {
      const other = createServer((socket) => socket.destroy());
      await listen(other, port);
      return async ({ said }) => {
        await said('the daemon ended, starting it again');
        other.close();
      };
    },
  },
  {
    what: 'its daemon takes more memory than it may have',
    env: {
      NODE_OPTIONS: `--max-old-space-size=48 --import=data:text/javascript,${encodeURIComponent(glutton)}`,
    },
    strike:
      async () =>
      async ({ daemonId, polled, said }) => {
        await polled();
        process.kill(daemonId(), 'SIGUSR2');
        await said('its heap was full');
      },
  },
  {
    what: 'its configuration is missing',
    strike: wrongFile('config.yaml', async () => undefined, 'configuration file does not exist'),
  },
  {
    what: 'its configuration is a named pipe',
    strike: wrongFile(
      'config.yaml',
      async (path) => execFileSync('mkfifo', [path]),
      'is not a regular file',
    ),
  },
  {
    what: 'its configuration is another file, and far too large',
    strike: wrongFile(
      'config.yaml',
      async (path) => {
        await writeFile(path, '');
        await truncate(path, 1024 ** 4);
      },
      'is far too large',
    ),
  },
  {
    what: 'its configuration has a bad regular expression, and is replaced as a ConfigMap is',
    strike: async ({ path, vendorPort }) => {
      for (const [folder, match] of [
        ['..bad', 'shop-('],
        ['..good', '.'],
      ] as const) {
        await mkdir(path(folder));
        await writeFile(path(`${folder}/config.yaml`), configOf(vendorPort, match));
      }
      await rm(path('config.yaml'));
      await symlink('..bad', path('..data'));
      await symlink('..data/config.yaml', path('config.yaml'));
      return async ({ said }) => {
        await said('regular expression');
        await symlink('..good', path('..new'));
        await rename(path('..new'), path('..data'));
      };
    },
  },
  {
    what: 'its key is missing',
    strike: wrongFile('key', async () => undefined, 'create it with the API key'),
  },
  {
    what: 'its key cannot be read',
    strike: wrongFile('key', async (path) => mkdir(path), 'is a directory'),
  },
  {
    what: 'its CA bundle is broken',
    strike: wrongFile(
      'ca.pem',
      async (path) => writeFile(path, '-----BEGIN CERTIFICATE-----\nAA\n'),
      'has a broken certificate',
    ),
  },
  {
    what: 'its vendor cannot be reached',
    strike: async ({ simulator }) => {
      await simulator.stop();
      return async ({ said }) => {
        await said('discovery failed');
        await simulator.start();
      };
    },
  },
];

/** A line of the log about something that did not work, and will be tried again. */
const failed = /^.*"(?:level":"error|msg":"discovery failed)".*$/gmu;

interface Suffered {
  /** How often the first process was looked at and ran, and how often it did not. */
  readonly running: number;
  readonly ended: number;
  /** What had failed from when all was well again to when the vendor had answered. */
  readonly failuresAfter: readonly string[];
  /** How it ended when it was asked to. */
  readonly code: number | null;
  readonly log: string;
}

/** Runs a container with all the given files good, but for what the fault breaks. */
async function suffer({ env = {}, strike }: Fault): Promise<Suffered> {
  const [port, vendorPort] = [await freePort(), await freePort()];
  const simulator = createSimulator(
    { port: vendorPort, apiKeys: [key], ingestDelayMs: 0, fleet: { applications: 1, hosts: 1 } },
    { clock: createSystemClock() },
  );
  await simulator.start();
  const files = { 'config.yaml': configOf(vendorPort), key, 'ca.pem': certificate };
  return withFiles(files, async (directory) => {
    const place: Place = { path: (name) => `${directory}/${name}`, port, vendorPort, simulator };
    const mend = await strike(place);
    const file = `--config.file=${directory}/config.yaml`;
    const listenFlag = `--web.listen-address=127.0.0.1:${port}`;
    const program = startProgram(['serve', '--config.wait', '--respawn', file, listenFlag], env);
    const { child } = program;
    const looks = { running: 0, ended: 0 };
    const looking = setInterval(() => {
      looks[child.exitCode === null && child.signalCode === null ? 'running' : 'ended'] += 1;
    }, lookEveryMs);
    const polled = async (): Promise<unknown> =>
      until(async () => {
        const page = await get(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
        return page?.text.includes('newrelic_up{account="one"} 1\n') === true ? true : undefined;
      });
    try {
      await mend({
        ...place,
        program,
        said: async (words) => until(() => (program.stderr().includes(words) ? true : undefined)),
        polled,
        daemonId: () => childrenOf(child.pid)[0] ?? Number.NaN,
      });
      const logged = program.stderr().length;
      await polled();
      const failuresAfter = program.stderr().slice(logged).match(failed) ?? [];
      clearInterval(looking);
      const { code, stderr } = await stopProgram(program);
      return { ...looks, failuresAfter, code, log: stderr };
    } finally {
      clearInterval(looking);
      await stopProgram(program);
      await simulator.stop();
    }
  });
}

/**
 * What the kubelet asks of a sidecar without probes: a container without a readiness probe is ready as
 * long as its process runs, and the pod is as long as all of its containers are. So a sidecar whose
 * first process never ends cannot take its pod away from anybody.
 */
describe.skipIf(onLinux.skip)(`12 a sidecar without probes${onLinux.note}`, () => {
  it.concurrent.each(faults)(
    'never ends, and polls with its next try when all is well again: $what',
    async (fault) => {
      const { running, ended, failuresAfter, code, log } = await suffer(fault);

      expect(ended).toBe(0);
      expect(running).toBeGreaterThan(20);
      expect(code).toBe(0);
      // What was under way when all was mended may still fail.
      expect(failuresAfter.length).toBeLessThanOrEqual(1);
      const pauses = [...log.matchAll(/"again_in_seconds":(\d+)/gu)].map(([, seconds]) =>
        Number(seconds),
      );
      expect(Math.max(0, ...pauses)).toBeLessThanOrEqual(8);
      expect(log).not.toContain(key);
    },
  );
});
