import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  connectionServer,
  established,
  httpServer,
  httpsServer,
  type LoopbackServer,
  proxyServer,
  relayTo,
  tunnelTo,
} from './loopback-server.ts';
import { apiErrorOf, get, openTransport, tls } from './open-transport.ts';

type End = (socket: Socket) => unknown;

/** Ways to end a connection; the other direction of a half-closed one stays open. */
const ends: Readonly<Record<string, End>> = {
  'closes it': (socket) => socket.end(() => socket.destroy()),
  'half-closes it': (socket) => socket.end(),
  'resets it': (socket) => socket.resetAndDestroy(),
};

/** When the first hop ends a connection. */
const moments: Readonly<Record<string, (socket: Socket, end: End) => unknown>> = {
  'as soon as it stands': (socket, end) => end(socket),
  'after the first bytes': (socket, end) => socket.once('data', () => end(socket)),
  'with the tunnel just opened': (socket, end) =>
    socket.once('data', () => socket.write(established, () => end(socket))),
  'in the TLS handshake inside the tunnel': (socket, end) =>
    socket.once('data', () => {
      socket.write(established);
      socket.once('data', () => end(socket));
    }),
};

async function vendor(isTls: boolean): Promise<LoopbackServer> {
  return isTls
    ? httpsServer(tls, (_request, response) => response.end('{}'))
    : httpServer((_request, response) => response.end('{}'));
}

/** A working proxy in front of a vendor over TLS. It answers plain requests itself. */
async function workingProxy(isTls: boolean): Promise<LoopbackServer> {
  const { port } = await vendor(true);
  const toVendor = (_request: unknown, socket: Socket): void => tunnelTo(port, socket);
  return proxyServer(toVendor, undefined, isTls ? tls : undefined);
}

/** How the vendor and the proxy are spoken to; without a proxy the vendor itself ends the connections. */
const routes: readonly (readonly [vendor: 'http' | 'https', proxy?: 'http' | 'https'])[] = [
  ['http'],
  ['https'],
  ['http', 'http'],
  ['http', 'https'],
  ['https', 'http'],
  ['https', 'https'],
];

const rows = routes.flatMap(([scheme, proxy]) =>
  Object.keys(moments)
    .slice(0, scheme === 'https' && proxy === 'http' ? 4 : 2)
    .flatMap((moment) => Object.keys(ends).map((how) => ({ scheme, proxy, moment, how }))),
);

describe('when every connection is ended', () => {
  it.each(rows)(
    'one is made for a call, which fails at once, and recovers: $scheme through $proxy, that $how $moment',
    async ({ scheme, proxy, moment, how }) => {
      const isProxied = proxy !== undefined;
      const behind = await (isProxied
        ? workingProxy(proxy === 'https')
        : vendor(scheme === 'https'));
      let isBroken = true;
      const front = await connectionServer((socket) => {
        if (isBroken) moments[moment]?.(socket, ends[how] ?? (() => undefined));
        else relayTo(behind.port, socket);
      });
      // The proxy of this test leads to its vendor, whatever the target.
      const target = scheme === 'https' ? 'https://localhost:8443' : 'http://vendor.invalid';
      const transport = openTransport(isProxied ? target : `${scheme}://localhost:${front.port}`, {
        proxyUrl: isProxied ? `${proxy}://localhost:${front.port}` : undefined,
        ca: tls.cert,
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
      expect(one.message.includes(`through the proxy`)).toBe(isProxied);
      expect(one.message).toContain(String(front.port));
      expect([answer.status, answer.body]).toEqual([200, '{}']);
      expect(front.connections()).toBe(5);
    },
  );
});
