import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/model/api-error.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { until } from '../../support/daemon-process.ts';
import { settle } from '../../support/fake-clock.ts';
import { neverAborted } from './fakes.ts';
import { httpServer, tcpServer } from './loopback-server.ts';
import { apiErrorOf, get, openTransport } from './open-transport.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

describe('a request', () => {
  it('is one GET with its own headers, and brings the whole answer', async () => {
    const seen: unknown[] = [];
    const server = await httpServer(({ method, url, headers }, response) => {
      const { accept, host, 'accept-encoding': encoding, 'api-key': key } = headers;
      seen.push([method, url, { accept, host, encoding, key, agent: headers['user-agent'] }]);
      response.setHeader('X-RateLimit-Reset', '1454313600');
      response.end('{"applications":[],"name":"Zürich ✓"}');
    });
    const answer = await get(openTransport(`http://localhost:${server.port}/newrelic/`));

    const headers = {
      accept: 'application/json',
      host: `localhost:${server.port}`,
      encoding: 'identity',
      key: 'test-key',
      agent: 'newrelic-exporter/test',
    };
    expect(seen).toEqual([['GET', '/newrelic/v2/applications.json?page=1', headers]]);
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'x-ratelimit-reset': '1454313600' },
      body: '{"applications":[],"name":"Zürich ✓"}',
    });
  });

  it('has the headers that it is given, also when they change, over one connection', async () => {
    const keys: unknown[] = [];
    const server = await httpServer((request, response) => {
      keys.push(request.headers['api-key']);
      response.end('{}');
    });
    const transport = openTransport(`http://localhost:${server.port}`, { connections: 1 });
    const wanted = ['key-1', 'key-1', 'key-2', 'key-1'];
    for (const key of wanted) {
      const request = { operation: 'list_hosts', target: '/' } as const;
      await transport.send(request, { 'Api-Key': key }, neverAborted);
    }

    expect([keys, server.connections()]).toEqual([wanted, 1]);
  });

  it('follows no redirect', async () => {
    const target = await httpServer((_request, response) => response.end('{}'));
    const server = await httpServer((_request, response) => {
      response.writeHead(301, { location: `http://localhost:${target.port}/` }).end('Moved');
    });

    expect(await get(openTransport(`http://localhost:${server.port}`))).toMatchObject({
      status: 301,
      body: 'Moved',
    });
    expect(target.connections()).toBe(0);
  });

  it('with a key that no header can carry is refused, without naming it', async () => {
    const request = { operation: 'list_hosts', target: '/secret-query' } as const;
    const headers = { 'Api-Key': 'secret-key\n' };
    const sent = openTransport('http://localhost:1').send(request, headers, neverAborted);
    const { reason, message } = await apiErrorOf(sent);

    expect(reason).toBe('client');
    expect(message).toContain('API key');
    expect(message).not.toContain('secret');
  });

  it('is broken off when the transport is closed', async () => {
    const server = await tcpServer(() => undefined);
    const transport = openTransport(`http://localhost:${server.port}`);
    const call = apiErrorOf(get(transport));
    await until(() => (server.open() === 1 ? true : undefined));
    await transport.close();

    expect((await call).reason).toBe('client');
  });
});

describe('an answer', () => {
  it.each([
    ['gzip', 200, 'not_json 200'],
    ['br', 206, 'not_json 206'],
    [' Identity', 200, 'answer 200 body'],
    ['', 200, 'answer 200 body'],
    [' ', 200, 'answer 200 body'],
    ['identity, gzip', 200, 'not_json 200'],
    ['gzip', 429, 'answer 429 '],
    ['identity', 503, 'answer 503 body'],
  ])('with the content-encoding "%s" and the status %d is %s', async (encoding, status, is) => {
    const server = await httpServer((_request, response) => {
      response.writeHead(status, { 'content-encoding': encoding }).end('body');
    });
    const outcome = await get(openTransport(`http://localhost:${server.port}`)).then(
      (answer) => `answer ${answer.status} ${answer.body}`,
      (error: ApiError) => `${error.reason} ${error.status}`,
    );

    expect(outcome).toBe(is);
  });

  it.each([
    { answerSize: 'large', limitBytes: 3_145_728 },
    { answerSize: 'medium', limitBytes: 1_048_576 },
    { answerSize: 'small', limitBytes: 65_536 },
    { answerSize: undefined, limitBytes: 65_536 },
  ] as const)(
    'that is $answerSize has up to $limitBytes bytes, or is refused',
    async ({ answerSize, limitBytes }) => {
      const server = await httpServer((request, response) => {
        const [, kind, size] = request.url?.split('/') ?? [];
        if (kind === 'announced') response.setHeader('content-length', Number(size));
        else response.flushHeaders();
        response.end('x'.repeat(Number(size)));
      });
      const transport = openTransport(`http://localhost:${server.port}`);
      const ask = async (target: string): Promise<ApiResponse> => {
        const request = {
          operation: 'list_hosts',
          target,
          ...(answerSize && { answerSize }),
        } as const;
        return transport.send(request, {}, neverAborted);
      };
      const answer = await ask(`/chunked/${limitBytes}`);
      const chunked = await apiErrorOf(ask(`/chunked/${limitBytes + 1}`));
      const announced = await apiErrorOf(ask(`/announced/${limitBytes + 1}`));

      expect(answer.body).toHaveLength(limitBytes);
      expect([chunked.reason, announced.reason]).toEqual(['too_large', 'too_large']);
      expect(chunked.message).toContain(`${limitBytes} bytes`);
    },
  );

  it('that is a failure keeps its status whatever its body is like', async () => {
    const server = await httpServer((request, response) => {
      response.writeHead(503, { 'content-length': '2000000' });
      response.write('y'.repeat(request.url === '/endless' ? 1_000_000 : 10), () => {
        if (request.url === '/broken') response.destroy();
      });
    });
    const transport = openTransport(`http://localhost:${server.port}`);

    expect((await get(transport, '/endless')).status).toBe(503);
    expect(await get(transport, '/broken')).toMatchObject({ status: 503, body: 'y'.repeat(10) });
  });

  it.each([
    ['closes without an answer', '', 'reset'],
    ['closes in the middle of the headers', 'HTTP/1.1 200 O', 'reset'],
    ['sends less than it announced', `${head}Content-Length: 9\r\n\r\n{`, 'reset'],
    ['breaks off between chunks', `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, 'reset'],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'not_json'],
    ['sends huge headers', `${head}X-Big: ${'h'.repeat(20_000)}\r\n\r\n`, 'too_large'],
    ['upgrades', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', 'not_json'],
  ])('of a server that %s is none', async (_, bytes, reason) => {
    const server = await tcpServer((socket) => socket.end(bytes));
    const error = await apiErrorOf(get(openTransport(`http://localhost:${server.port}`)));

    expect(error.reason).toBe(reason);
    expect(error.message).toContain(`localhost:${server.port}: `);
  });

  it('is none when the connection is reset in the middle of the body', async () => {
    const server = await tcpServer((socket) => {
      socket.write(`${head}Content-Length: 100\r\n\r\n{"a":`, () => socket.resetAndDestroy());
    });
    const error = await apiErrorOf(get(openTransport(`http://localhost:${server.port}`)));

    expect(error.reason).toBe('reset');
  });

  it('is none when nothing listens', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const address = unused.address();
    unused.close();
    await once(unused, 'close');
    const port = typeof address === 'object' ? address?.port : undefined;
    const error = await apiErrorOf(get(openTransport(`http://127.0.0.1:${port}`)));

    expect(error.reason).toBe('connect');
    expect(error.message).toContain('ECONNREFUSED');
  });

  it.each([
    ['before the headers', ''],
    ['in the body', `${head}Content-Length: 100\r\n\r\n{`],
    ['in the body of a failure', 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n{'],
  ])("is the signal's own reason when it is aborted %s", async (_, bytes) => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const server = await tcpServer((socket) => {
      // Leaves the client a turn to read what was written.
      socket.write(bytes, () => void settle().then(() => controller.abort(reason)));
    });
    const transport = openTransport(`http://localhost:${server.port}`);

    await expect(get(transport, '/', controller.signal)).rejects.toBe(reason);
  });
});
