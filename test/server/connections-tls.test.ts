import { once } from 'node:events';
import { get } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnections } from '../../src/server/connections.ts';
import { createHttpListener } from '../../src/server/http-listener.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { tlsText } from '../support/tls-files.ts';
import { aServerTls } from './server-tls.ts';

interface Bench {
  readonly port: number;
  /** Opens a TCP connection and sends nothing; resolves when the server has accepted it. */
  readonly silent: () => Promise<Socket>;
  /** Ends its handshake and sends nothing. */
  readonly idle: () => Promise<Socket>;
  /** The status of a request on a new connection. */
  readonly status: () => Promise<number | undefined>;
}

async function aBench(options: {
  readonly maxConnections: number;
  readonly headersTimeoutMs?: number;
}): Promise<Bench> {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const { server } = createHttpListener(
    { writeTimeoutMs: 30_000, tls: aServerTls(), ...options },
    {
      handler: async (_request, response) => {
        response.end('ok');
      },
      connections: createConnections(options, { clock, logger }),
      logger,
      clock,
      isClosing: () => false,
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const kept = (socket: Socket): Socket => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  };
  return {
    port,
    silent: async () => {
      const accepted = once(server, 'connection');
      const socket = kept(connect(port, '127.0.0.1'));
      await accepted;
      return socket;
    },
    idle: async () => {
      const socket = kept(connectTls({ port, host: 'localhost', ca: tlsText('ca') }));
      await once(socket, 'secureConnect');
      return socket;
    },
    status: async () =>
      new Promise((resolve, reject) => {
        const request = get({ port, host: 'localhost', agent: false, ca: tlsText('ca') });
        request.once('error', reject);
        request.once('response', (response) => {
          response.resume();
          resolve(response.statusCode);
        });
      }),
  };
}

/** Whether each connection has been ended by the server by the time that the last one is closed. */
async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
    // Only who reads notices the end.
    socket.resume();
  });
}

describe('connections with TLS', () => {
  it('that are silent before their handshake end for new ones, which are answered', async () => {
    const bench = await aBench({ maxConnections: 4 });
    const silent: Socket[] = [];
    for (let index = 0; index < 4; index += 1) silent.push(await bench.silent());
    const status = await bench.status();
    const [oldest] = silent;
    if (oldest !== undefined) await closed(oldest);

    expect(status).toBe(200);
    expect(silent.slice(1).map((socket) => socket.closed)).toEqual([false, false, false]);
  });

  it('that are silent after their handshake end for new ones too', async () => {
    const bench = await aBench({ maxConnections: 4 });
    const idle: Socket[] = [];
    for (let index = 0; index < 4; index += 1) idle.push(await bench.idle());
    const statuses = [await bench.status(), await bench.status()];
    const [oldest] = idle;
    if (oldest !== undefined) await closed(oldest);

    expect(statuses).toEqual([200, 200]);
  });

  it('do not count when they are closed', async () => {
    const bench = await aBench({ maxConnections: 3 });
    const first = await bench.idle();
    for (let index = 0; index < 10; index += 1) await bench.status();

    expect(first.closed).toBe(false);
  });

  it.each([{ kind: 'silent' }, { kind: 'idle' }] as const)(
    'that are $kind end after some time',
    async ({ kind }) => {
      const bench = await aBench({ maxConnections: 4, headersTimeoutMs: 200 });
      const socket = await bench[kind]();

      await expect(closed(socket)).resolves.toBeUndefined();
    },
  );
});
