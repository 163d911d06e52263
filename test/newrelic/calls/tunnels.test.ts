import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/daemon-process.ts';
import { httpsServer, proxyServer, relayTo, tcpServer } from './loopback-server.ts';
import { apiErrorOf, get, openTransport } from './open-transport.ts';

const key = readFileSync(new URL('fixtures/test-only-key.pem', import.meta.url), 'utf8');
const cert = readFileSync(new URL('fixtures/test-only-certificate.pem', import.meta.url), 'utf8');
const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** Writes a byte every few milliseconds, without end. */
function drip(socket: Socket, text: string): void {
  let written = 0;
  const timer = setInterval(() => {
    socket.write(text[written] ?? 'x');
    written += 1;
  }, 5);
  socket.on('close', () => {
    clearInterval(timer);
  });
}

describe('a proxy asked for a tunnel', () => {
  it.each([
    {
      what: 'refuses it with 301',
      bytes: 'HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n',
      says: '301',
    },
    { what: 'refuses it with 403', bytes: 'HTTP/1.1 403 No\r\n\r\n<h1>No</h1>', says: '403' },
    { what: 'wants a password', bytes: 'HTTP/1.1 407 No\r\n\r\n', says: 'check user and password' },
  ])('that $what is a failure to connect that says so', async ({ bytes, says }) => {
    const proxy = await tcpServer((socket) => socket.write(bytes));
    const transport = openTransport({
      baseUrl: 'https://vendor.invalid',
      proxyUrl: `http://user:proxy-secret@127.0.0.1:${proxy.port}`,
    });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('connect');
    expect(error.message).toMatch(
      new RegExp(`^vendor\\.invalid: through the proxy 127\\.0\\.0\\.1:${proxy.port}: `, 'u'),
    );
    expect(error.message).toContain(says);
    expect(error.message).not.toContain('proxy-secret');
    // The connection of the refusal is closed.
    await until(() => (proxy.open() === 0 ? true : undefined));
    expect(proxy.connections()).toBe(1);
  });

  it.each([
    { what: 'speaks no HTTP', bytes: 'SSH-2.0-OpenSSH_9.2\r\n', reason: 'not_json' },
    {
      what: 'sends huge headers',
      bytes: `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
      reason: 'too_large',
    },
    { what: 'opens it and speaks no TLS', bytes: `${established}nonsense`, reason: 'tls' },
  ])('that $what is reported as $reason and let go', async ({ bytes, reason }) => {
    const proxy = await tcpServer((socket) => socket.write(bytes));
    const transport = openTransport({
      baseUrl: 'https://vendor.invalid',
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
    });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe(reason);
    expect(error.message).toContain(`through the proxy 127.0.0.1:${proxy.port}`);
    await until(() => (proxy.open() === 0 ? true : undefined));
    expect(proxy.connections()).toBe(1);
  });

  it.each([
    { what: 'never answers', onData: () => undefined, reason: 'timeout' },
    {
      what: 'answers a byte at a time',
      onData: (socket: Socket) => {
        drip(socket, 'HTTP/1.1 200 OK\r\nX: ');
      },
      reason: 'timeout',
    },
    {
      what: 'opens it and then passes nothing on',
      onData: (socket: Socket) => socket.write(established),
      reason: 'connect',
    },
  ])('that $what is given up and let go', async ({ onData, reason }) => {
    const proxy = await tcpServer(onData);
    const transport = openTransport({
      baseUrl: 'https://vendor.invalid',
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
      connectTimeoutMs: 50,
    });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe(reason);
    await until(() => (proxy.open() === 0 ? true : undefined));
    expect(proxy.connections()).toBe(1);
  });

  it('is let go when the transport is closed, even if it has said nothing', async () => {
    const proxy = await tcpServer(() => undefined);
    const transport = openTransport({
      baseUrl: 'https://vendor.invalid',
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
      connectTimeoutMs: 60_000,
    });
    const call = apiErrorOf(get(transport));
    await until(() => (proxy.open() === 1 ? true : undefined));

    await transport.close();

    expect((await call).reason).toBe('client');
    await until(() => (proxy.open() === 0 ? true : undefined));
    expect(proxy.connections()).toBe(1);
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
    const proxy = await proxyServer(
      ({ method, url, headers }, socket) => {
        seen.push([method, url, headers.host, headers['proxy-authorization'], headers['api-key']]);
        socket.end('HTTP/1.1 502 No\r\n\r\n');
      },
      (_request, response) => response.end(),
    );
    const transport = openTransport({
      baseUrl: 'https://vendor.invalid/prefix',
      proxyUrl: `http://${user}@127.0.0.1:${proxy.port}`,
    });

    await apiErrorOf(get(transport));

    expect(seen).toEqual([
      ['CONNECT', 'vendor.invalid:443', 'vendor.invalid:443', sent, undefined],
    ]);
  });

  it.each([
    { baseUrl: 'https://localhost', target: 'localhost:443', serverName: 'localhost' },
    { baseUrl: 'https://127.0.0.1:8443', target: '127.0.0.1:8443', serverName: undefined },
    { baseUrl: 'https://[::1]:8443', target: '[::1]:8443', serverName: undefined },
  ])('to $baseUrl leads to $target, and names it inside', async (row) => {
    const names: unknown[] = [];
    const origin = await httpsServer(
      {
        key,
        cert,
        SNICallback: (name, callback) => {
          names.push(name);
          callback(null);
        },
      },
      (_request, response) => response.end('{}'),
    );
    const targets: unknown[] = [];
    const proxy = await proxyServer(
      ({ url }, socket) => {
        targets.push(url);
        relayTo(origin.port, socket, () => socket.write(established));
      },
      (_request, response) => response.end(),
      { key, cert },
    );
    const transport = openTransport({
      baseUrl: row.baseUrl,
      proxyUrl: `https://localhost:${proxy.port}`,
      ca: cert,
    });

    const outcome = await get(transport).then(
      ({ status }) => String(status),
      (error: Error) => error.message,
    );

    expect(targets).toEqual([row.target]);
    expect(names).toEqual(row.serverName === undefined ? [] : [row.serverName]);
    // The certificate is for "localhost" alone.
    const expected = row.serverName === undefined ? 'ERR_TLS_CERT_ALTNAME_INVALID' : '200';
    expect(outcome).toContain(expected);
  });

  it('goes through a proxy that has IPv6 only', async ({ skip }) => {
    skip(!hasIpv6, 'this machine has no IPv6');
    const origin = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const proxy = await proxyServer(
      (_request, socket) => {
        relayTo(origin.port, socket, () => socket.write(established));
      },
      (_request, response) => response.end(),
      undefined,
      '::1',
    );
    const transport = openTransport({
      baseUrl: 'https://localhost',
      proxyUrl: `http://[::1]:${proxy.port}`,
      ca: cert,
    });

    expect((await get(transport)).status).toBe(200);
  });

  it('serves successive calls, and ends with the transport', async () => {
    const origin = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const proxy = await proxyServer(
      (_request, socket) => {
        relayTo(origin.port, socket, () => socket.write(established));
      },
      (_request, response) => response.end(),
    );
    const transport = openTransport({
      baseUrl: 'https://localhost',
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
      ca: cert,
      connections: 1,
    });

    await get(transport);
    await get(transport);
    await transport.close();

    expect(proxy.connections()).toBe(1);
    await until(() => (proxy.open() === 0 ? true : undefined));
    expect(origin.open()).toBe(0);
  });
});
