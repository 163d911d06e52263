import { createServer, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Connections } from './connections.ts';
import type { RequestHandler } from './request-handler.ts';

/** Clients that scrape every minute or faster keep their connection, and never meet its end. */
const keepAliveTimeoutMs = 65_000;
/** Nobody who scrapes sends a large or a slow request. */
const defaultHeadersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
/** How long a client that was turned down may go on sending, before it is cut off. */
const lingerMs = 1000;

/** The answer to what is no HTTP request that Node understands; nothing to who said nothing. */
function rejectionOf(code: unknown, { bytesRead }: Socket): string | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return '400 Bad Request';
  return bytesRead === 0 ? undefined : '408 Request Timeout';
}

export interface HttpListenerOptions {
  /** An answer that its client has not taken whole after so long is broken off. */
  readonly writeTimeoutMs: number;
  /**
   * A connection ends when it has not brought the head of a request so long after it began, or after
   * the first byte of a further request; a tenth of it later at most. Default 10 seconds.
   */
  readonly headersTimeoutMs?: number;
}

export interface HttpListenerDependencies {
  readonly handler: RequestHandler;
  readonly connections: Connections;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether connections should end with the answers that they wait for. */
  readonly isClosing: () => boolean;
}

function serveRequests(
  server: Server,
  { writeTimeoutMs }: HttpListenerOptions,
  { handler, connections, logger, clock, isClosing }: HttpListenerDependencies,
): void {
  server.on('request', (request, response) => {
    connections.answering(request.socket, response);
    if (isClosing()) response.setHeader('Connection', 'close');
    response.on('error', (error) => {
      logger.debug({ err: error }, 'client went away');
    });
    // Node's own socket timeout starts anew with every byte: a client that sips would never meet it.
    const cancelTimer = clock.after(writeTimeoutMs, () => {
      logger.debug({ afterMs: writeTimeoutMs }, 'client took too long, connection dropped');
      response.destroy();
    });
    response.once('close', () => {
      cancelTimer();
      if (isClosing()) server.closeIdleConnections();
    });
    handler(request, response).catch((error: unknown) => {
      logger.error({ err: error }, 'answer could not be sent');
      response.destroy();
    });
  });
}

/** What becomes of connections that bring no valid request, or none in time. */
function rejectOthers(server: Server, { logger, clock }: HttpListenerDependencies): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    logger.debug({ err: error }, 'client went away or sent no valid request');
    if (socket.writableEnded) return;
    const rejection = socket instanceof Socket ? rejectionOf(error.code, socket) : undefined;
    // Once bytes of an answer are out, more of them would only garble it.
    const isUntouched = socket instanceof Socket && socket.bytesWritten === 0;
    if (rejection === undefined || !isUntouched || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(`HTTP/1.1 ${rejection}\r\nConnection: close\r\n\r\n`);
    // Cut off at once, it might be reset before it has read why. A client that never closes its side
    // would keep the connection for ever.
    const cancelTimer = clock.after(lingerMs, () => {
      socket.destroy();
    });
    socket.once('close', cancelTimer);
  });
}

/** Creates one listening socket's server: timeouts, limits, and what is said to broken requests. */
export function createHttpListener(
  options: HttpListenerOptions,
  dependencies: HttpListenerDependencies,
): Server {
  const { headersTimeoutMs = defaultHeadersTimeoutMs } = options;
  const server = createServer({
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: headersTimeoutMs / 10,
  });
  server.on('connection', (socket) => {
    dependencies.connections.opened(socket);
  });
  serveRequests(server, options, dependencies);
  rejectOthers(server, dependencies);
  return server;
}
