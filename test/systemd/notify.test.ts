import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import {
  type RunningDaemon,
  startDaemon,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const python = toolOrSkip('python3');
const notify = toolOrSkip('systemd-notify', process.env, 'apt-get install systemd');
const skip = python.skip ? python : notify;

/** Binds the socket that its argument names, and prints each message as a line of JSON. */
const receiver = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print(json.dumps(["bound"]), flush=True)
while True:
    print(json.dumps(s.recv(65536).decode().splitlines()), flush=True)
`;

/** What systemd is for the daemon: a socket for datagrams, which Node cannot open. */
async function listenAsSystemd(): Promise<{
  readonly socket: string;
  readonly messages: () => readonly (readonly string[])[];
}> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-notify-'));
  const socket = join(folder, 'notify');
  const child = spawn(python.path, ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  });
  const messages = (): readonly (readonly string[])[] =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as readonly string[]);
  await until(() => (messages().length > 0 ? true : undefined));
  return {
    socket,
    // systemd-notify waits until its message was read: a message without content is that.
    messages: () =>
      messages()
        .slice(1)
        .filter((lines) => lines[0] !== 'BARRIER=1'),
  };
}

async function withDaemon(
  env: Readonly<Record<string, string>>,
  use: (daemon: RunningDaemon, configFile: string) => Promise<void>,
): Promise<void> {
  const simulator = createSimulator(
    { fleet: { applications: 2, hosts: 3, kinds: ['web'] } },
    { clock: createSystemClock() },
  );
  const { baseUrl } = await simulator.start();
  const config = `accounts: [{ name: one, base_url: "${baseUrl}", api_key_env: KEY }]\napps: [{ match: . }]\n`;
  try {
    await withFiles({ 'config.yaml': config }, async (folder) => {
      const file = `${folder}/config.yaml`;
      const key = simulator.apiKeys[0] ?? '';
      const daemon = await startDaemon([`--config.file=${file}`], { KEY: key, ...env });
      try {
        await use(daemon, file);
      } finally {
        await stopProgram(daemon);
      }
    });
  } finally {
    await simulator.stop();
  }
}

describe.skipIf(skip.skip)(`the daemon as a service of systemd${skip.note}`, () => {
  it('tells systemd each step of its life, its state, and that it lives', async () => {
    const systemd = await listenAsSystemd();
    const all = (): readonly string[] => systemd.messages().flat();
    const count = (line: string): number => all().filter((one) => one === line).length;

    await withDaemon(
      { NOTIFY_SOCKET: systemd.socket, WATCHDOG_USEC: '600000' },
      async (daemon, file) => {
        await until(() => (count('READY=1') === 1 && count('WATCHDOG=1') >= 3 ? true : undefined));
        await until(() => all().find((line) => line.startsWith('STATUS=Polling 1 account: 2 app')));
        daemon.child.kill('SIGHUP');
        await until(() => (count('READY=1') === 2 ? true : undefined));
        const { code } = await stopProgram(daemon);
        await until(() => (count('STOPPING=1') === 1 ? true : undefined));

        expect(code).toBe(0);
        expect(daemon.stderr()).not.toContain('service manager');
        expect(file).not.toBe('');
      },
    );

    const reload = systemd.messages().findIndex((lines) => lines[0] === 'RELOADING=1');
    expect(systemd.messages()[reload]?.[1]).toMatch(/^MONOTONIC_USEC=\d+$/u);
    const later = systemd.messages().slice(reload + 1);
    expect(later.flat().filter((line) => !/^(?:STATUS|WATCHDOG)=/u.test(line))).toEqual([
      'READY=1',
      'STOPPING=1',
    ]);
  });

  it('runs on, and says so once, if systemd cannot be told', async () => {
    await withDaemon(
      { NOTIFY_SOCKET: '/no/such/socket', WATCHDOG_USEC: '60000' },
      async (daemon) => {
        const warnings = (): readonly string[] =>
          daemon
            .stderr()
            .split('\n')
            .filter((line) => line.includes('the service manager cannot be told'));
        await until(() => (warnings().length > 0 ? true : undefined));
        const { status } = await fetch(`${daemon.url}/metrics`);

        const { code } = await stopProgram(daemon);

        expect([status, code, warnings().length]).toEqual([200, 0, 1]);
        expect(warnings()[0]).toContain('systemd-notify: ');
      },
    );
  });
});
