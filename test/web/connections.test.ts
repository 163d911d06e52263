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

  it('causes at most one warning a minute', async () => {
    await withClients({ maxConnections: 2 }, async ({ clock, logger }, made) => {
      const warnings = (): number => logger.lines.filter(({ level }) => level === 'warn').length;
      await made(['connected', 'connected']);
      const before = warnings();
      await made(['connected', 'connected']);
      const atFirst = warnings();
      await clock.advance(60_000);
      await made(['connected', 'connected', 'connected']);

      expect([before, atFirst, warnings()]).toEqual([0, 1, 2]);
    });
  });
});

/** Asks, or sends the beginning of a request, and waits until the server has read it. */
async function say({ socket, accepted: end }: Client, text: string): Promise<void> {
  const before = end.bytesRead;
  socket.write(text);
  await until(() => end.bytesRead >= before + text.length || undefined);
}

const late = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

describe('a client that does not ask', () => {
  const half = 'GET / HTTP/1.1\r\n';

  it.each<{
    what: string;
    kind: Kind;
    begin: string;
    everySecond: string;
    s: number;
    told: string;
  }>([
    { what: 'sends nothing', kind: 'connected', begin: '', everySecond: '', s: 10, told: late },
    {
      what: 'sends half a request',
      kind: 'connected',
      begin: half,
      everySecond: '',
      s: 10,
      told: late,
    },
    {
      what: 'sends a byte a second',
      kind: 'connected',
      begin: half,
      everySecond: 'x',
      s: 10,
      told: late,
    },
    {
      what: 'was answered, and sends half a request',
      kind: 'answered',
      begin: half,
      everySecond: '',
      s: 10,
      told: late,
    },
    {
      what: 'was answered, and sends a byte a second',
      kind: 'answered',
      begin: half,
      everySecond: 'x',
      s: 10,
      told: late,
    },
    { what: 'was answered', kind: 'answered', begin: '', everySecond: '', s: 65, told: '' },
  ])('is cut off $s s after it, or a second later, if it $what', async (row) => {
    await withClients({}, async ({ clock }, made) => {
      for (const client of await made([row.kind])) {
        const { length } = client.received();
        if (row.begin !== '') await say(client, row.begin);
        for (let second = 0; second < row.s; second += 1) {
          await clock.advance(1000);
          expect(client.accepted.destroyed).toBe(false);
          if (row.everySecond !== '') await say(client, row.everySecond);
        }
        await clock.advance(1000);

        expect(client.accepted.destroyed).toBe(true);
        expect(clock.pendingTimers()).toBe(0);
        await until(() => client.socket.readableEnded || undefined);
        expect(client.received().slice(length)).toBe(row.told);
      }
    });
  });

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

  it('is answered when it asks every minute', async () => {
    await withClients({}, async ({ clock }, made) => {
      for (const client of await made(['answered'])) {
        for (let minute = 0; minute < 5; minute += 1) {
          await clock.advance(60_000);
          await ask(client);
        }

        expect(client.accepted.destroyed).toBe(false);
      }
    });
  });
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

    it('end after ten seconds, or a second later', async () => {
      await withServer({ access: tlsAccess() }, async ({ port, clock }) => {
        const socket = await quiet(kind, port);
        await clock.advance(10_000);
        const before = socket.destroyed;
        await clock.advance(1000);

        expect([before, socket.destroyed]).toEqual([false, true]);
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

  it('is told why it is cut off', async () => {
    await withServer({ access: tlsAccess() }, async ({ port, clock }) => {
      const socket = secureClient(port).setEncoding('utf8');
      await once(socket, 'secureConnect');
      const told = once(socket, 'data');
      await clock.advance(11_000);

      expect(await told).toEqual([late]);
    });
  });
});
