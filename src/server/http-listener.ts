import { createServer, type Server } from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { RequestHandler } from './request-handler.ts';

/** Clients that scrape every minute or faster keep their connection, and never meet its end. */
const keepAliveTimeoutMs = 65_000;
/** Nobody who scrapes sends a large or a slow request. */
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
/** Against clients that only connect. */
const maxConnections = 1000;

/** The answer to what is no HTTP request that Node understands. */
function rejectionOf(code: unknown): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
}

export interface HttpListenerOptions {
  /** An answer that its client has not taken whole after so long is broken off. */
  readonly writeTimeoutMs: number;
}

export interface HttpListenerDependencies {
  readonly handler: RequestHandler;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether connections should end with the answers that they wait for. */
  readonly isClosing: () => boolean;
}

/** Creates one listening socket's server: timeouts, limits, and what is said to broken requests. */
export function createHttpListener(
  { writeTimeoutMs }: HttpListenerOptions,
  { handler, logger, clock, isClosing }: HttpListenerDependencies,
): Server {
  const server = createServer({
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
  });
  server.maxConnections = maxConnections;
  server.on('request', (request, response) => {
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
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    logger.debug({ err: error }, 'client went away or sent no valid request');
    // Once bytes of an answer are out, more of them would only garble it.
    const isUntouched = 'bytesWritten' in socket && socket.bytesWritten === 0;
    if (socket.writable && isUntouched) {
      socket.end(`HTTP/1.1 ${rejectionOf(error.code)}\r\nConnection: close\r\n\r\n`);
    } else {
      socket.destroy();
    }
  });
  return server;
}
