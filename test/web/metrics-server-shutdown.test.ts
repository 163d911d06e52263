import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { settle } from '../support/fake-clock.ts';
import { aHeldPage, aPage, open, readReply, withServer } from './harness.ts';

const largePage = 'vendor 1\n'.repeat(2_000_000);

async function getWith(agent: Agent, port: number, path: string): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, agent });
  sent.end();
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
}

describe('close', () => {
  it('ends idle connections at once and accepts no new ones', async () => {
    await withServer({}, async ({ port, server, clock }) => {
      const agent = new Agent({ keepAlive: true });
      const response = await getWith(agent, port, '/-/healthy');
      const { socket } = response;
      const socketClosed = once(socket, 'close');
      await readReply(response);

      await server.close();
      await socketClosed;

      await expect(open(port, '/-/healthy')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      expect(clock.pendingTimers()).toBe(0);
    });
  });

  it('answers the request in flight, and then ends its connection', async () => {
    const held = aHeldPage(1);
    await withServer({ page: held.page }, async ({ port, server }) => {
      const agent = new Agent({ keepAlive: true });
      const response = getWith(agent, port, '/metrics');
      await held.asked;
      const closed = server.close();
      held.release(await aPage('vendor 1\n'));

      const reply = await readReply(await response);
      await closed;

      expect(reply.body.toString()).toBe('vendor 1\nself 1\n');
    });
  });

  it('answers a client that had connected before, and tells it that the connection ends', async () => {
    await withServer({}, async ({ port, server, get }) => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      await once(socket, 'connect');
      await get('/-/healthy');
      const closed = server.close();
      let received = '';
      socket.on('data', (text: string) => {
        received += text;
      });
      socket.write('GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n');

      await once(socket, 'close');
      await closed;

      expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/u);
      expect(received).toContain('\r\nConnection: close\r\n');
    });
  });

  it('lets a slow reader finish a large answer that has begun', async () => {
    const page = await aPage(largePage);
    await withServer({ page: async () => page }, async ({ port, server }) => {
      const agent = new Agent({ keepAlive: true });
      const response = await getWith(agent, port, '/metrics');
      const closed = server.close();
      await settle();

      const reply = await readReply(response);
      await closed;

      expect(reply.body).toHaveLength(largePage.length + 'self 1\n'.length);
    });
  });

  it('cuts off a client that reads nothing at the deadline, and not before', async () => {
    const page = await aPage(largePage);
    await withServer({ page: async () => page }, async ({ port, server, clock }) => {
      const response = await open(port, '/metrics');
      const events: string[] = [];
      const closed = server.close(3000).finally(() => events.push('closed'));
      await clock.advance(2999);
      events.push('deadline');
      await clock.advance(1);

      await closed;

      expect(events).toEqual(['deadline', 'closed']);
      await expect(readReply(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    });
  });
});
