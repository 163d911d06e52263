import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/daemon-process.ts';
import {
  established,
  httpsServer,
  type LoopbackServer,
  proxyServer,
  tcpServer,
  tunnelTo,
} from './loopback-server.ts';
import { apiErrorOf, get, openTransport, tls } from './open-transport.ts';

const origin = async () => httpsServer(tls, (_request, response) => response.end('{}'));

/** Writes a byte every few milliseconds, without end. */
function drip(socket: Socket, text: string): void {
  let written = 0;
  const timer = setInterval(() => {
    socket.write(text[written] ?? 'x');
    written += 1;
  }, 5);
  socket.on('close', () => clearInterval(timer));
}

async function isLetGo(proxy: LoopbackServer): Promise<void> {
  await until(() => (proxy.open() === 0 ? true : undefined));
  expect(proxy.connections()).toBe(1);
}

const hugeHeaders = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`;

describe('a proxy asked for a tunnel', () => {
  it.each<[string, string | ((socket: Socket) => void), string, string?]>([
    ['refuses it with 301', 'HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n', 'connect', '301'],
    ['refuses it with 403', 'HTTP/1.1 403 No\r\n\r\n<h1>No</h1>', 'connect', '403'],
    ['wants a password', 'HTTP/1.1 407 No\r\n\r\n', 'connect', 'check user and password'],
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'not_json'],
    ['sends huge headers', hugeHeaders, 'too_large'],
    ['opens it and speaks no TLS', `${established}nonsense`, 'tls'],
    ['never answers', () => undefined, 'timeout'],
    ['answers a byte at a time', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX: '), 'timeout'],
    ['opens it and passes nothing on', (socket) => void socket.write(established), 'connect'],
  ])('that %s is a failure that says so, and is let go', async (...row) => {
    const [, does, reason, says = ''] = row;
    const proxy = await tcpServer((socket) =>
      typeof does === 'string' ? socket.write(does) : does(socket),
    );
    const transport = openTransport('https://vendor.invalid', {
      proxyUrl: `http://user:proxy-secret@127.0.0.1:${proxy.port}`,
      connectTimeoutMs: typeof does === 'string' ? 5000 : 50,
    });
    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe(reason);
    const begins = `vendor.invalid: through the proxy 127.0.0.1:${proxy.port}: `;
    expect(error.message.slice(0, begins.length)).toBe(begins);
    expect(error.message).toContain(says);
    expect(error.message).not.toContain('proxy-secret');
    await isLetGo(proxy);
  });

  it('is let go when the transport is closed, even if it has said nothing', async () => {
    const proxy = await tcpServer(() => undefined);
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const transport = openTransport('https://vendor.invalid', {
      proxyUrl,
      connectTimeoutMs: 60_000,
    });
    const call = apiErrorOf(get(transport));
    await until(() => (proxy.open() === 1 ? true : undefined));
    await transport.close();

    expect((await call).reason).toBe('client');
    await isLetGo(proxy);
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((addresses = []) =>
  addresses.some(({ address }) => address === '::1'),
);

describe('a tunnel', () => {
  it.each([
    { user: 'user:pass%20word', sent: `Basic ${btoa('user:pass word')}` },
    { user: 'token:', sent: `Basic ${btoa('token:')}` },
    { user: '', sent: undefined },
  ])('is requested with the credentials of the proxy: "$user"', async ({ user, sent }) => {
    const seen: unknown[] = [];
    const proxy = await proxyServer(({ method, url, headers }, socket) => {
      seen.push([method, url, headers.host, headers['proxy-authorization'], headers['api-key']]);
      socket.end('HTTP/1.1 502 No\r\n\r\n');
    });
    const proxyUrl = `http://${user}@127.0.0.1:${proxy.port}`;
    await apiErrorOf(get(openTransport('https://vendor.invalid/prefix', { proxyUrl })));

    const target = 'vendor.invalid:443';
    expect(seen).toEqual([['CONNECT', target, target, sent, undefined]]);
  });

  it.each([
    ['https://localhost', 'localhost:443', ['localhost'], '200'],
    // The certificate is for "localhost" alone.
    ['https://127.0.0.1:8443', '127.0.0.1:8443', [], 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['https://[::1]:8443', '[::1]:8443', [], 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('to %s leads to %s, and names it inside: %j', async (baseUrl, target, serverNames, says) => {
    const [names, targets]: [unknown[], unknown[]] = [[], []];
    const behind = await httpsServer(
      {
        ...tls,
        SNICallback: (name, callback) => {
          names.push(name);
          callback(null);
        },
      },
      (_request, response) => response.end('{}'),
    );
    const proxy = await proxyServer(
      ({ url }, socket) => {
        targets.push(url);
        tunnelTo(behind.port, socket);
      },
      undefined,
      tls,
    );
    const options = { proxyUrl: `https://localhost:${proxy.port}`, ca: tls.cert };
    const outcome = await get(openTransport(baseUrl, options)).then(
      ({ status }) => String(status),
      (error: Error) => error.message,
    );

    expect([targets, names]).toEqual([[target], serverNames]);
    expect(outcome).toContain(says);
  });

  it.for(['127.0.0.1', '::1'])(
    'serves successive calls, and ends with the transport: %s',
    async (host, { skip }) => {
      skip(host === '::1' && !hasIpv6, 'this machine has no IPv6');
      const behind = await origin();
      const proxy = await proxyServer(
        (_request, socket) => tunnelTo(behind.port, socket),
        undefined,
        undefined,
        host,
      );
      const proxyUrl = `http://${host === '::1' ? '[::1]' : host}:${proxy.port}`;
      const options = { proxyUrl, ca: tls.cert, connections: 1 };
      const transport = openTransport('https://localhost', options);
      const statuses = [(await get(transport)).status, (await get(transport)).status];
      await transport.close();

      expect(statuses).toEqual([200, 200]);
      await isLetGo(proxy);
      expect(behind.open()).toBe(0);
    },
  );
});
