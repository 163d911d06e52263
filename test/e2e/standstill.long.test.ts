import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { sleep } from '../../src/model/clock.ts';
import { freePort, startDaemon, stopProgram, withFiles } from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';

const config = (port: number): string =>
  `accounts:\n  - { name: one, base_url: "http://127.0.0.1:${port}", api_key_env: KEY }\n` +
  'apps: [{ match: "." }]\n';

interface Client {
  readonly socket: Socket;
  /** All that it was told; an error is part of it. */
  readonly received: () => string;
}

async function connected(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', ({ message }) => {
    received += message;
  });
  await once(socket, 'connect');
  return { socket, received: () => received };
}

/** The first line of what the server says next. */
async function ask({ socket, received }: Client): Promise<string | undefined> {
  const before = received().length;
  const said = new Promise((resolve) => {
    for (const event of ['data', 'close']) socket.once(event, resolve);
  });
  socket.write('GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n');
  await said;
  return received().slice(before).split('\r\n')[0];
}

describe.skipIf(onLinux.skip)(`a process that stands still${onLinux.note}`, () => {
  // Longer than a head may take, and than a connection may be idle.
  it.each([{ seconds: 12 }, { seconds: 70 }])(
    'for $seconds s answers what was asked meanwhile, over connections of every age',
    async ({ seconds }) => {
      await withFiles({ 'config.yaml': config(await freePort()) }, async (directory) => {
        const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], {
          KEY: 'NRAK-STANDSTILL',
        });
        const port = Number(new URL(daemon.url).port);
        const clients: Client[] = [];
        try {
          const kept = await connected(port);
          await ask(kept);
          const unasked = await connected(port);
          // By its answer, the one before has been accepted.
          const other = await connected(port);
          await ask(other);
          daemon.child.kill('SIGSTOP');
          const made = await connected(port);
          clients.push(kept, unasked, other, made);
          const clock = createSystemClock();
          const never = new AbortController().signal;
          await sleep(clock, 1000 * seconds - 500, never);
          const answers = Promise.all([kept, unasked, made].map(ask));
          await sleep(clock, 500, never);
          daemon.child.kill('SIGCONT');

          expect(await answers).toEqual(Array.from({ length: 3 }, () => 'HTTP/1.1 200 OK'));
          expect(await ask(other)).toBe('HTTP/1.1 200 OK');
        } finally {
          for (const { socket } of clients) socket.destroy();
          daemon.child.kill('SIGCONT');
          await stopProgram(daemon);
        }
      });
    },
  );
});
