import { once } from 'node:events';
import { get } from 'node:https';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { tlsText } from '../support/tls-files.ts';
import { withListeners } from './listeners.ts';
import { aServerTls } from './server-tls.ts';

interface Bench {
  /** Opens a TCP connection and sends nothing; the end of the server. */
  readonly silent: () => Promise<Socket>;
  /** Ends its handshake and sends nothing. */
  readonly idle: () => Promise<Socket>;
  /** The status of a request on a new connection. */
  readonly status: () => Promise<number | undefined>;
}

async function withBench(
  options: { readonly maxConnections: number; readonly headersTimeoutMs?: number },
  use: (bench: Bench) => Promise<void>,
): Promise<void> {
  await withListeners({ tls: aServerTls(), ...options }, async ({ connected, ports: [port] }) => {
    const target = { port: port ?? 0, host: 'localhost', ca: tlsText('ca') };
    await use({
      silent: async () => (await connected()).accepted,
      idle: async () => {
        const socket = connectTls(target).on('error', () => undefined);
        await once(socket, 'secureConnect');
        return socket;
      },
      status: async () =>
        new Promise((resolve, reject) => {
          get({ ...target, agent: false }, (response) => {
            response.resume();
            resolve(response.statusCode);
          }).once('error', reject);
        }),
    });
  });
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
    await withBench({ maxConnections: 4 }, async (bench) => {
      const silent: Socket[] = [];
      for (let index = 0; index < 4; index += 1) silent.push(await bench.silent());
      const status = await bench.status();
      const [oldest] = silent;
      if (oldest !== undefined) await closed(oldest);

      expect(status).toBe(200);
      expect(silent.slice(1).map((socket) => socket.closed)).toEqual([false, false, false]);
    });
  });

  it('that are silent after their handshake end for new ones too', async () => {
    await withBench({ maxConnections: 4 }, async (bench) => {
      const idle: Socket[] = [];
      for (let index = 0; index < 4; index += 1) idle.push(await bench.idle());
      const statuses = [await bench.status(), await bench.status()];
      const [oldest] = idle;
      if (oldest !== undefined) await closed(oldest);

      expect(statuses).toEqual([200, 200]);
    });
  });

  it('do not count when they are closed', async () => {
    await withBench({ maxConnections: 3 }, async (bench) => {
      const first = await bench.idle();
      for (let index = 0; index < 10; index += 1) await bench.status();

      expect(first.closed).toBe(false);
    });
  });

  it.each([{ kind: 'silent' }, { kind: 'idle' }] as const)(
    'that are $kind end after some time',
    async ({ kind }) => {
      await withBench({ maxConnections: 4, headersTimeoutMs: 200 }, async (bench) => {
        const socket = await bench[kind]();

        await expect(closed(socket)).resolves.toBeUndefined();
      });
    },
  );
});
