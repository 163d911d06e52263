import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  connectionServer,
  httpServer,
  httpsServer,
  type LoopbackServer,
  proxyServer,
  relayTo,
} from './loopback-server.ts';
import { apiErrorOf, get, openTransport } from './open-transport.ts';

const key = readFileSync(new URL('fixtures/test-only-key.pem', import.meta.url), 'utf8');
const cert = readFileSync(new URL('fixtures/test-only-certificate.pem', import.meta.url), 'utf8');
const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** Ways to end a connection; the other direction of a half-closed one stays open. */
const ends: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'closes it': (socket) => socket.end(() => socket.destroy()),
  'half-closes it': (socket) => socket.end(),
  'resets it': (socket) => socket.resetAndDestroy(),
};

type End = (socket: Socket) => unknown;

/** When the first hop ends a connection. */
const moments = {
  'as soon as it stands': (socket: Socket, end: End) => end(socket),
  'after the first bytes': (socket: Socket, end: End) => {
    socket.once('data', () => end(socket));
  },
  'with the tunnel just opened': (socket: Socket, end: End) => {
    socket.once('data', () => socket.write(established, () => end(socket)));
  },
  'in the TLS handshake inside the tunnel': (socket: Socket, end: End) => {
    socket.once('data', () => {
      socket.write(established);
      socket.once('data', () => end(socket));
    });
  },
} as const;

const early = ['as soon as it stands', 'after the first bytes'] as const;
const all = Object.keys(moments) as (keyof typeof moments)[];

async function vendor(isTls: boolean): Promise<LoopbackServer> {
  return isTls
    ? httpsServer({ key, cert }, (_request, response) => response.end('{}'))
    : httpServer((_request, response) => response.end('{}'));
}

/** A working proxy in front of a vendor over TLS. It answers plain requests itself. */
async function workingProxy(isTls: boolean): Promise<LoopbackServer> {
  const origin = await vendor(true);
  return proxyServer(
    (_request, socket) => {
      relayTo(origin.port, socket, () => socket.write(established));
    },
    (_request, response) => response.end('{}'),
    isTls ? { key, cert } : undefined,
  );
}

interface Route {
  readonly route: string;
  readonly first: string;
  readonly open: () => Promise<LoopbackServer>;
  readonly baseUrl: (port: number) => string;
  readonly proxyUrl: (port: number) => string | undefined;
  readonly moments: readonly (keyof typeof moments)[];
}

const direct = { first: 'the vendor', proxyUrl: () => undefined, moments: early };
const proxied = { first: 'the proxy', moments: early };
const routes: readonly Route[] = [
  {
    ...direct,
    route: 'http',
    open: async () => vendor(false),
    baseUrl: (port) => `http://localhost:${port}`,
  },
  {
    ...direct,
    route: 'https',
    open: async () => vendor(true),
    baseUrl: (port) => `https://localhost:${port}`,
  },
  {
    ...proxied,
    route: 'http through an http proxy',
    open: async () => workingProxy(false),
    baseUrl: () => 'http://vendor.invalid',
    proxyUrl: (port) => `http://127.0.0.1:${port}`,
  },
  {
    ...proxied,
    route: 'http through an https proxy',
    open: async () => workingProxy(true),
    baseUrl: () => 'http://vendor.invalid',
    proxyUrl: (port) => `https://localhost:${port}`,
  },
  {
    ...proxied,
    route: 'https through an http proxy',
    open: async () => workingProxy(false),
    // The proxy of this test leads to its vendor, whatever the target.
    baseUrl: () => 'https://localhost:8443',
    proxyUrl: (port) => `http://127.0.0.1:${port}`,
    moments: all,
  },
  {
    ...proxied,
    route: 'https through an https proxy',
    open: async () => workingProxy(true),
    baseUrl: () => 'https://localhost:8443',
    proxyUrl: (port) => `https://localhost:${port}`,
  },
];

const rows = routes.flatMap((route) =>
  route.moments.flatMap((moment) =>
    Object.entries(ends).map(([how, end]) => ({ ...route, moment, how, end })),
  ),
);

describe('createUndiciTransport when every connection is ended', () => {
  it.each(rows)(
    'makes one a call, fails at once and recovers: $route, $first $how $moment',
    async ({ open, baseUrl, proxyUrl, first, moment, end }) => {
      const behind = await open();
      let isBroken = true;
      const front = await connectionServer((socket) => {
        if (isBroken) moments[moment](socket, end);
        else relayTo(behind.port, socket);
      });
      const transport = openTransport({
        baseUrl: baseUrl(front.port),
        proxyUrl: proxyUrl(front.port),
        ca: cert,
        // Nothing that fails here waits for a timeout.
        connectTimeoutMs: 60_000,
      });

      const one = await apiErrorOf(get(transport));
      const others = [get(transport), get(transport), get(transport)];
      const errors = [one, ...(await Promise.all(others.map(async (call) => apiErrorOf(call))))];
      const made = front.connections();
      isBroken = false;
      const answer = await get(transport);

      expect(errors.map(({ reason }) => reason)).toEqual(['reset', 'reset', 'reset', 'reset']);
      expect(made).toBe(4);
      expect(one.message.includes(`through the proxy`)).toBe(first === 'the proxy');
      expect(one.message).toContain(String(front.port));
      expect([answer.status, answer.body]).toEqual([200, '{}']);
      expect(front.connections()).toBe(5);
    },
  );
});
