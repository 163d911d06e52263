import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on a free port of the loopback interface; it is closed when the test has finished. */
export interface LoopbackServer {
  readonly port: number;
  /** Connections accepted so far. */
  connections(): number;
}

type AnyServer = Server | ReturnType<typeof createTcpServer>;

async function listen(server: AnyServer): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: address.port, connections: () => accepted };
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

/** An HTTP proxy whose CONNECT is handled by `onConnect`, and absolute-form requests by `onRequest`. */
export async function proxyServer(
  onConnect: (request: IncomingMessage, socket: Socket) => void,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LoopbackServer> {
  const server = createHttpServer(onRequest);
  server.on('connect', (request, socket) => {
    if (socket instanceof Socket) onConnect(request, socket);
  });
  return listen(server);
}
