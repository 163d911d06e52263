import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { connect, createServer as createTcpServer, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on a free port of the loopback interface; it is closed when the test has finished. */
export interface LoopbackServer {
  readonly port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Those of them that are open. */
  open(): number;
}

type AnyServer = Server | ReturnType<typeof createTcpServer>;

async function listen(server: AnyServer, host = '127.0.0.1'): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: address.port, connections: () => accepted, open: () => sockets.size };
}

export async function httpServer(listener: RequestListener): Promise<LoopbackServer> {
  return listen(createHttpServer(listener));
}

export async function httpsServer(
  options: ServerOptions,
  listener: RequestListener,
): Promise<LoopbackServer> {
  return listen(createHttpsServer(options, listener));
}

/** Speaks whatever the test writes, HTTP or not. */
export async function tcpServer(onData: (socket: Socket) => void): Promise<LoopbackServer> {
  return listen(
    createTcpServer((socket) => {
      socket.once('data', () => {
        onData(socket);
      });
    }),
  );
}

/** Does to each connection whatever the test does, from the moment it is accepted. */
export async function connectionServer(
  onAccept: (socket: Socket) => void,
): Promise<LoopbackServer> {
  return listen(createTcpServer({ allowHalfOpen: true }, onAccept));
}

/** Passes the bytes of a connection on to a port, in both directions, until one side ends. */
export function relayTo(port: number, socket: Socket, onConnect: () => void = () => {}): void {
  const upstream = connect(port, '127.0.0.1', () => {
    onConnect();
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('error', () => upstream.destroy());
  socket.on('close', () => upstream.destroy());
}

/** What a proxy says when a tunnel is open. */
export const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** Opens the tunnel that a proxy was asked for, wherever it was to lead. */
export function tunnelTo(port: number, socket: Socket): void {
  relayTo(port, socket, () => socket.write(established));
}

/**
 * An HTTP proxy whose CONNECT is handled by `onConnect`, and absolute-form requests by `onRequest`;
 * with `tls` clients speak TLS to it.
 */
export async function proxyServer(
  onConnect: (request: IncomingMessage, socket: Socket) => void,
  onRequest: RequestListener = (_request, response) => void response.end('{}'),
  tls?: ServerOptions,
  host?: string,
): Promise<LoopbackServer> {
  const server =
    tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  server.on('connect', (request, socket) => {
    if (socket instanceof Socket) onConnect(request, socket);
  });
  return listen(server, host);
}
