import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get as getHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../support/daemon-process.ts';
import { tlsText } from '../support/tls-files.ts';
import { type Overrides, type Running, withServer } from './harness.ts';
import { secureClient, tlsAccess } from './server-tls.ts';

interface Client {
  readonly socket: Socket;
  /** The server's end of the connection. */
  readonly accepted: Socket;
  readonly received: () => string;
}

/** The server's end of the next connection to a port, when the server has taken it in. */
async function accepted(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const listener = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      if (socket.localPort !== port) return;
      unsubscribe('net.server.socket', listener);
      resolve(socket);
    };
    subscribe('net.server.socket', listener);
  });
}

/** Connects and sends nothing. Never closes its side. */
async function connected(port: number): Promise<Client> {
  const accepting = accepted(port);
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, accepted: await accepting, received: () => received };
}

async function ask({ socket }: Client): Promise<void> {
  const data = once(socket, 'data');
  socket.write('GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n');
  await data;
}

type Kind = 'connected' | 'answered' | 'waiting';

/** Runs a server with two addresses and one limit during `use`, and makes connections in turn to each. */
async function withClients(
  overrides: Overrides,
  use: (running: Running, made: (kinds: readonly Kind[]) => Promise<readonly Client[]>) => unknown,
): Promise<void> {
  const clients: Client[] = [];
  let asked = (): void => undefined;
  const page = async (): Promise<never> => {
    asked();
    return new Promise(() => undefined);
  };
  const listenAddresses = ['127.0.0.1:0', '127.0.0.1:0'];
  await withServer({ listenAddresses, page, ...overrides }, async (running) => {
    const made = async (kind: Kind): Promise<Client> => {
      const client = await connected(running.ports[clients.length % 2] ?? 0);
      clients.push(client);
      if (kind === 'answered') await ask(client);
      if (kind === 'waiting') {
        const waits = new Promise<void>((resolve) => {
          asked = resolve;
        });
        client.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
        await waits;
      }
      return client;
    };
    await use(running, async (kinds) => {
      const all: Client[] = [];
      for (const kind of kinds) all.push(await made(kind));
      return all;
    });
  });
  for (const { socket } of clients) socket.destroy();
}

/** The positions of the connections that the server has ended. */
function ended(clients: readonly Client[]): readonly number[] {
  return [...clients.entries()]
    .filter(([, client]) => client.accepted.destroyed)
    .map(([position]) => position);
}

describe('the connection above the limit', () => {
  it.each<{ what: string; kinds: readonly Kind[]; ends: readonly number[] }>([
    {
      what: 'the oldest of those without a request, not those between two requests',
      kinds: ['answered', 'waiting', 'connected', 'connected', 'connected'],
      ends: [2],
    },
    {
      what: 'the ones without a request one by one, however many come',
      kinds: ['connected', 'connected', 'connected', 'connected', 'connected', 'connected'],
      ends: [0, 1],
    },
    {
      what: 'the one that has waited longest for its next request, not the few new ones',
      kinds: ['connected', 'waiting', 'answered', 'answered', 'connected'],
      ends: [2],
    },
    {
      what: 'the oldest of those that are being answered, if there are no others',
      kinds: ['waiting', 'connected', 'waiting', 'waiting', 'connected'],
      ends: [0],
    },
  ])('ends $what', async ({ kinds, ends }) => {
    await withClients({ maxConnections: 4 }, async (_running, made) => {
      expect(ended(await made(kinds))).toEqual(ends);
    });
  });

  it('counts as idle from the end of its last answer', async () => {
    await withClients({ maxConnections: 2 }, async (_running, made) => {
      const clients = await made(['answered', 'answered']);
      for (const client of clients.slice(0, 1)) await ask(client);
      const newcomers = await made(['connected']);

      expect(ended([...clients, ...newcomers])).toEqual([1]);
    });
  });

  it('causes three warnings at first, and then one a minute that counts the others', async () => {
    await withClients({ maxConnections: 2 }, async ({ clock, logger }, made) => {
      const warnings = (): readonly unknown[] =>
        logger.lines
          .filter(({ level }) => level === 'warn')
          .map(({ fields }) => fields['suppressed'] ?? 0);
      await made(['connected', 'connected']);
      const before = warnings();
      await made(Array.from({ length: 10 }, () => 'connected' as const));
      await clock.advance(60_000);

      expect([before, warnings()]).toEqual([[], [0, 0, 0, 6]]);
    });
  });
});

describe('a client that does not ask', () => {
  it.each<{ kind: Kind; s: number }>([
    { kind: 'connected', s: 12 },
    { kind: 'connected', s: 1200 },
    { kind: 'answered', s: 12 },
    { kind: 'answered', s: 1200 },
  ])('while the process stands still for $s s is answered after it: $kind', async (row) => {
    await withClients({}, async ({ clock }, made) => {
      for (const client of await made([row.kind])) {
        const { length } = client.received();
        client.socket.write('GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n');
        clock.standStill(1000 * row.s);
        await until(() => client.received().length > length || undefined);

        expect(client.received().slice(length)).toMatch(/^HTTP\/1\.1 200 OK\r\n/u);
      }
    });
  });

  it.each<{ kind: Kind }>([{ kind: 'connected' }, { kind: 'answered' }])(
    'is answered when it asks, however late: $kind',
    async ({ kind }) => {
      await withClients({}, async ({ clock }, made) => {
        for (const client of await made([kind])) {
          for (let hour = 0; hour < 3; hour += 1) {
            await clock.advance(3_600_000);
            await ask(client);
          }

          expect(client.accepted.destroyed).toBe(false);
        }
      });
    },
  );
});

/** A connection on which nothing is sent, before or after the handshake of TLS. */
async function quiet(kind: 'silent' | 'idle', port: number): Promise<Socket> {
  if (kind === 'silent') return (await connected(port)).accepted;
  const accepting = accepted(port);
  await once(secureClient(port), 'secureConnect');
  return accepting;
}

async function status(port: number): Promise<number | undefined> {
  const ca = tlsText('ca');
  return new Promise((resolve, reject) => {
    const target = { port, host: 'localhost', path: '/-/healthy', ca, agent: false };
    getHttps(target, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once('error', reject);
  });
}

describe.each([{ kind: 'silent' }, { kind: 'idle' }] as const)(
  'connections with TLS that are $kind',
  ({ kind }) => {
    it('end for new ones, which are answered', async () => {
      await withServer({ access: tlsAccess(), maxConnections: 4 }, async ({ port }) => {
        const all: Socket[] = [];
        for (let index = 0; index < 4; index += 1) all.push(await quiet(kind, port));
        const found = await status(port);

        expect(found).toBe(200);
        expect(all.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
      });
    });

    it('stay while others come and go', async () => {
      await withServer({ access: tlsAccess(), maxConnections: 3 }, async ({ port }) => {
        const first = await quiet(kind, port);
        for (let index = 0; index < 10; index += 1) await status(port);

        expect(first.destroyed).toBe(false);
      });
    });
  },
);

describe('a client with TLS', () => {
  it('is answered after a standstill in its handshake', async () => {
    await withServer({ access: tlsAccess() }, async ({ port, clock }) => {
      const accepting = accepted(port);
      const found = status(port);
      await accepting;
      clock.standStill(20_000);

      expect(await found).toBe(200);
    });
  });
});
