import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { aStatusSource } from '../support/status-source.ts';
import { anAccountStatus, aServer, open, withServer } from './harness.ts';

/** Sends raw bytes and reads until the server ends the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {
    received += '[reset]';
  });
  socket.write(bytes);
  await once(socket, 'close');
  return received;
}

describe('the routes', () => {
  it('report that the process works, whatever the vendor does', async () => {
    const accounts = [anAccountStatus({ up: false, firstCycleEnded: false })];
    const status = aStatusSource({ accounts });
    await withServer({ status }, async ({ get }) => {
      const { status: code, body } = await get('/-/healthy');

      expect(code).toBe(200);
      expect(body.toString()).toBe('Healthy.\n');
    });
  });

  it('report what hangs in the process, since when, and that a restart helps', async () => {
    const since = 'polling has stood still since 2026-01-31T10:00:00.000Z';
    let reason: string | undefined = since;
    await withServer({ stalled: () => reason }, async ({ get }) => {
      const hanging = await get('/-/healthy');
      reason = undefined;
      const moving = await get('/-/healthy');

      expect(hanging.status).toBe(503);
      expect(hanging.body.toString()).toBe(
        `Unhealthy: ${since}. It will not recover by itself: restart the exporter, and report its log as a bug.\n`,
      );
      expect(moving.status).toBe(200);
    });
  });

  it.each([
    { method: 'GET', path: '/nothing', status: 404 },
    { method: 'GET', path: '//metrics', status: 404 },
    { method: 'GET', path: '/__proto__', status: 404 },
    { method: 'GET', path: '/%00', status: 404 },
    { method: 'POST', path: '/metrics', status: 405 },
    { method: 'DELETE', path: '/', status: 405 },
    { method: 'OPTIONS', path: '/-/healthy', status: 405 },
    { method: 'GET', path: '/?utm=1', status: 200 },
    { method: 'GET', path: 'http://exporter:9126/metrics', status: 200 },
    { method: 'HEAD', path: '/', status: 200 },
    { method: 'GET', path: `/${'x'.repeat(8000)}`, status: 404 },
    { method: 'GET', path: `/metrics?${'x'.repeat(8000)}`, status: 200 },
    { method: 'GET', path: `/${'x'.repeat(100_000)}`, status: 431 },
  ])('answer $status to $method $path', async ({ method, path, status }) => {
    await withServer({}, async ({ get }) => {
      const reply = await get(path, { method });

      expect(reply.status).toBe(status);
      expect(reply.headers.allow).toBe(status === 405 ? 'GET, HEAD' : undefined);
    });
  });

  it('answer 400 to a request that is not HTTP, and go on', async () => {
    await withServer({}, async ({ port, get, logger }) => {
      const answer = await exchange(port, 'scrape, please\r\n\r\n');
      const next = await get('/-/healthy');

      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/u);
      expect(next.status).toBe(200);
      expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    });
  });
});

describe('listen', () => {
  it('listens on every address and says where', async () => {
    const { server } = aServer({ listenAddresses: ['127.0.0.1:0', ':0'] });

    const bound = await server.listen();
    const replies = await Promise.all(
      bound.map(async ({ port }) => exchange(port, 'GET /-/healthy HTTP/1.0\r\n\r\n')),
    );
    await server.close();

    expect(bound[0]?.host).toBe('127.0.0.1');
    expect(['::', '0.0.0.0']).toContain(bound[1]?.host);
    expect(replies.filter((reply) => reply.startsWith('HTTP/1.1 200'))).toHaveLength(2);
  });

  it('rejects with the address, the reason and the remedy when the port is taken', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const taken = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const { server } = aServer({ listenAddresses: [taken] });

    await expect(server.listen()).rejects.toMatchObject({
      message: `Cannot listen on "${taken}": the port is in use by another process. Stop that process, or choose another port with --web.listen-address.`,
    });
    other.close();
  });

  it('listens nowhere when one of the addresses is bad', async () => {
    const { server: first } = aServer();
    const [address] = await first.listen();
    await first.close();
    const { server } = aServer({ listenAddresses: [`127.0.0.1:${address?.port}`, 'nonsense'] });

    await expect(server.listen()).rejects.toThrow('nonsense');
    await expect(open(address?.port ?? 0, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('POST /-/reload', () => {
  it.each([
    { who: 'a program', headers: {}, status: 200, reloads: 1 },
    {
      who: 'a page of a site whose name leads here',
      headers: {
        host: 'evil.example:9126',
        origin: 'http://evil.example:9126',
        'sec-fetch-site': 'same-origin',
      },
      status: 403,
      reloads: 0,
    },
    { who: 'another site', headers: { 'sec-fetch-site': 'cross-site' }, status: 403, reloads: 0 },
    {
      who: 'another site in an old browser',
      headers: { origin: 'https://evil.example' },
      status: 403,
      reloads: 0,
    },
  ])('of $who gets $status', async ({ headers, status, reloads }) => {
    let count = 0;
    const reload = async (): Promise<undefined> => {
      count += 1;
    };
    await withServer({ reload }, async ({ get }) => {
      const reply = await get('/-/reload', { method: 'POST', headers });

      expect([reply.status, count]).toEqual([status, reloads]);
      expect(reply.body.toString()).toBe(
        status === 200
          ? 'Configuration reloaded.\n'
          : 'A reload that a page in a browser asks for is refused. Use curl -X POST for it.\n',
      );
    });
  });
});
