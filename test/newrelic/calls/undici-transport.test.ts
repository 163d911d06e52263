import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { settle } from '../../support/fake-clock.ts';
import { httpServer, tcpServer } from './loopback-server.ts';
import { apiErrorOf, get, openTransport } from './open-transport.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Leaves the client a turn to read what was written. */
async function abortLater(controller: AbortController, reason: Error): Promise<void> {
  await settle();
  controller.abort(reason);
}

describe('createUndiciTransport', () => {
  it('sends one GET with its own headers and returns the whole answer', async () => {
    const seen: unknown[] = [];
    const server = await httpServer((request, response) => {
      const { accept, host, 'accept-encoding': encoding, 'api-key': key } = request.headers;
      const agent = request.headers['user-agent'];
      seen.push([request.method, request.url, { accept, host, encoding, key, agent }]);
      response.setHeader('X-RateLimit-Reset', '1454313600');
      response.end('{"applications":[],"name":"Zürich ✓"}');
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}/newrelic/` });

    const answer = await get(transport);

    expect(seen).toEqual([
      [
        'GET',
        '/newrelic/v2/applications.json?page=1',
        {
          accept: 'application/json',
          host: `localhost:${server.port}`,
          encoding: 'identity',
          key: 'test-key',
          agent: 'newrelic-exporter/test',
        },
      ],
    ]);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-reset']).toBe('1454313600');
    expect(answer.body).toBe('{"applications":[],"name":"Zürich ✓"}');
  });

  it('sends the headers of every request as they are given, also when they change', async () => {
    const keys: unknown[] = [];
    const server = await httpServer((request, response) => {
      keys.push(request.headers['api-key']);
      response.end('{}');
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });
    const [first, second] = [{ 'Api-Key': 'key-1' }, { 'Api-Key': 'key-2' }];
    const { signal } = new AbortController();

    for (const headers of [first, first, second, first]) {
      await transport.send({ operation: 'list_hosts', target: '/' }, headers, signal);
    }

    expect(keys).toEqual(['key-1', 'key-1', 'key-2', 'key-1']);
  });

  it('uses one connection for successive calls', async () => {
    const server = await httpServer((_request, response) => response.end('{}'));
    const transport = openTransport({
      baseUrl: `http://localhost:${server.port}`,
      connections: 1,
    });

    await get(transport);
    await get(transport);

    expect(server.connections()).toBe(1);
  });

  it('returns a redirect as an answer and does not follow it', async () => {
    const target = await httpServer((_request, response) => response.end('{}'));
    const server = await httpServer((_request, response) => {
      response.writeHead(301, { location: `http://localhost:${target.port}/` }).end('Moved');
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const answer = await get(transport);

    expect([answer.status, answer.body]).toEqual([301, 'Moved']);
    expect(target.connections()).toBe(0);
  });

  it.each([
    { encoding: 'gzip', status: 200, expected: 'not_json 200' },
    { encoding: 'br', status: 206, expected: 'not_json 206' },
    { encoding: ' Identity', status: 200, expected: 'answer 200 body' },
    { encoding: '', status: 200, expected: 'answer 200 body' },
    { encoding: ' ', status: 200, expected: 'answer 200 body' },
    { encoding: 'identity, gzip', status: 200, expected: 'not_json 200' },
    { encoding: 'gzip', status: 429, expected: 'answer 429 ' },
    { encoding: 'identity', status: 503, expected: 'answer 503 body' },
  ])('handles $status with content-encoding $encoding: $expected', async (row) => {
    const server = await httpServer((_request, response) => {
      response.writeHead(row.status, { 'content-encoding': row.encoding }).end('body');
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const outcome = await get(transport).then(
      ({ status, body }) => `answer ${status} ${body}`,
      (error: { reason: string; status: number }) => `${error.reason} ${error.status}`,
    );

    expect(outcome).toBe(row.expected);
  });

  it.each([
    { answerSize: 'large', limitBytes: 3_145_728 },
    { answerSize: 'medium', limitBytes: 1_048_576 },
    { answerSize: 'small', limitBytes: 65_536 },
    { answerSize: undefined, limitBytes: 65_536 },
  ] as const)(
    'reads a $answerSize 2xx body up to $limitBytes bytes and refuses a larger one',
    async ({ answerSize = 'small', limitBytes }) => {
      const server = await httpServer((request, response) => {
        const [, kind, size] = request.url?.split('/') ?? [];
        if (kind === 'announced') response.setHeader('content-length', Number(size));
        else response.flushHeaders();
        response.end('x'.repeat(Number(size)));
      });
      const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });
      const { signal } = new AbortController();
      const ask = async (target: string): Promise<ApiResponse> =>
        transport.send(
          { operation: 'list_hosts', target, answerSize },
          { 'Api-Key': 'test-key' },
          signal,
        );

      const answer = await ask(`/chunked/${limitBytes}`);
      const chunked = await apiErrorOf(ask(`/chunked/${limitBytes + 1}`));
      const announced = await apiErrorOf(ask(`/announced/${limitBytes + 1}`));

      expect(answer.body).toHaveLength(limitBytes);
      expect([chunked.reason, announced.reason]).toEqual(['too_large', 'too_large']);
      expect(chunked.message).toContain(`${limitBytes} bytes`);
    },
  );

  it('keeps the status of a failure whatever its body is like', async () => {
    const server = await httpServer((request, response) => {
      response.writeHead(503, { 'content-length': '2000000' });
      response.write('y'.repeat(request.url === '/endless' ? 1_000_000 : 10), () => {
        if (request.url === '/broken') response.destroy();
      });
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const endless = await get(transport, '/endless');
    const broken = await get(transport, '/broken');

    expect(endless.status).toBe(503);
    expect([broken.status, broken.body]).toEqual([503, 'y'.repeat(10)]);
  });

  it.each([
    { fault: 'closes without an answer', bytes: '', reason: 'reset' },
    { fault: 'closes in the middle of the headers', bytes: 'HTTP/1.1 200 O', reason: 'reset' },
    {
      fault: 'sends less than it announced',
      bytes: `${head}Content-Length: 9\r\n\r\n{`,
      reason: 'reset',
    },
    {
      fault: 'breaks off between two chunks',
      bytes: `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
      reason: 'reset',
    },
    { fault: 'does not speak HTTP', bytes: 'SSH-2.0-OpenSSH_9.2\r\n', reason: 'not_json' },
    {
      fault: 'sends huge headers',
      bytes: `${head}X-Big: ${'h'.repeat(20_000)}\r\n\r\n`,
      reason: 'too_large',
    },
    {
      fault: 'answers with an upgrade',
      bytes: 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n',
      reason: 'not_json',
    },
  ])('rejects with $reason when the server $fault', async ({ bytes, reason }) => {
    const server = await tcpServer((socket) => socket.end(bytes));
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe(reason);
    expect(error.message).toContain(`localhost:${server.port}: `);
  });

  it('rejects with reset when the server resets the connection in the middle of the body', async () => {
    const server = await tcpServer((socket) => {
      socket.write(`${head}Content-Length: 100\r\n\r\n{"a":`, () => socket.resetAndDestroy());
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('reset');
  });

  it('rejects with connect when nothing listens', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const address = unused.address();
    unused.close();
    await once(unused, 'close');
    const port = typeof address === 'object' ? address?.port : undefined;
    const transport = openTransport({ baseUrl: `http://127.0.0.1:${port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('connect');
    expect(error.message).toContain('ECONNREFUSED');
  });

  it.each([
    { phase: 'before the headers', bytes: '' },
    { phase: 'in the body', bytes: `${head}Content-Length: 100\r\n\r\n{` },
    { phase: 'in the body of a failure', bytes: 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n{' },
  ])("rejects with the signal's own reason when aborted $phase", async ({ bytes }) => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const server = await tcpServer((socket) => {
      socket.write(bytes, () => {
        void abortLater(controller, reason);
      });
    });
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const call = get(transport, '/', controller.signal);

    await expect(call).rejects.toBe(reason);
  });

  it('refuses a key that no header can carry, without naming it', async () => {
    const transport = openTransport({ baseUrl: 'http://localhost:1' });

    const error = await apiErrorOf(
      transport.send(
        { operation: 'list_hosts', target: '/secret-query' },
        { 'Api-Key': 'secret-key\n' },
        new AbortController().signal,
      ),
    );

    expect(error.reason).toBe('client');
    expect(error.message).toContain('API key');
    expect(error.message).not.toContain('secret');
  });

  it('breaks off what is under way when it is closed', async () => {
    const arrivals = new EventEmitter();
    const arrival = once(arrivals, 'request');
    const server = await tcpServer(() => arrivals.emit('request'));
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });
    const call = apiErrorOf(get(transport));
    await arrival;

    await transport.close();

    expect((await call).reason).toBe('client');
  });
});
