import { describe, expect, it } from 'vitest';
import { until } from '../support/daemon-process.ts';
import { type Client, type Listeners, withListeners } from './listeners.ts';

/** The positions of the connections that the server has ended. */
function ended(clients: readonly Client[]): readonly number[] {
  return [...clients.entries()]
    .filter(([, { accepted }]) => accepted.destroyed)
    .map(([position]) => position);
}

type Kind = 'connected' | 'answered' | 'waiting';

async function made(listeners: Listeners, kinds: readonly Kind[]): Promise<readonly Client[]> {
  const clients: Client[] = [];
  for (const kind of kinds) clients.push(await listeners[kind]());
  return clients;
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
    await withListeners({ maxConnections: 4 }, async (listeners) => {
      const clients = await made(listeners, kinds);

      expect(ended(clients)).toEqual(ends);
    });
  });

  it('counts as idle from the end of its last answer', async () => {
    await withListeners({ maxConnections: 2 }, async (listeners) => {
      const clients = await made(listeners, ['answered', 'answered']);
      for (const client of clients.slice(0, 1)) await listeners.askAgain(client);

      const newcomer = await listeners.connected();

      expect(ended([...clients, newcomer])).toEqual([1]);
    });
  });

  it('causes at most one warning a minute', async () => {
    await withListeners({ maxConnections: 2 }, async (listeners) => {
      const warnings = (): number =>
        listeners.logger.lines.filter(({ level }) => level === 'warn').length;
      await made(listeners, ['connected', 'connected']);
      const before = warnings();
      await made(listeners, ['connected', 'connected']);
      const atFirst = warnings();
      await listeners.clock.advance(60_000);
      await made(listeners, ['connected', 'connected']);

      expect([before, atFirst, warnings()]).toEqual([0, 1, 2]);
    });
  });
});

describe('a client without a request in time', () => {
  it.each([
    { what: 'nothing', begin: '', everyMs: 20_000, told: '' },
    { what: 'half a request', begin: 'GET / HTTP/1.1\r\n', everyMs: 20_000, told: 'HTTP/1.1 408 ' },
    // What is still being sent may reset the connection before the answer is read.
    { what: 'a byte at a time', begin: 'GET /', everyMs: 10, told: '' },
  ])('is cut off if it sent $what, and is told why', async ({ begin, everyMs, told }) => {
    await withListeners({ maxConnections: 4, headersTimeoutMs: 100 }, async (listeners) => {
      const { socket, accepted, received } = await listeners.connected();
      const closed = new Promise((resolve) => accepted.once('close', resolve));
      socket.write(begin);
      const timer = setInterval(() => socket.write('x'), everyMs);
      await closed;
      clearInterval(timer);

      expect(await until(() => received().startsWith(told) || undefined, 5000)).toBe(true);
      expect(listeners.clock.pendingTimers()).toBe(0);
    });
  });
});
