import { createServer, type ServerOptions } from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ServerTls } from '../model/web-config.ts';
import type { Connections } from './connections.ts';
import type { RequestHandler } from './request-handler.ts';
import { createTlsListener, type HttpListener } from './tls-listener.ts';

/** Longer than a minute: clients that scrape every minute or faster keep their connection. */
const keepAliveTimeoutMs = 65_000;
/** A scraper sends neither a large nor a slow request. */
const defaultHeadersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;

export interface HttpListenerOptions {
  /** An answer is cut off if its client has not read all of it within this time. */
  readonly writeTimeoutMs: number;
  /**
   * A connection ends if the head of a request has not arrived this long after the connection began,
   * or after the first byte of a further request; up to a tenth later. Default 10 seconds.
   */
  readonly headersTimeoutMs?: number;
  /** `undefined` for plain HTTP. */
  readonly tls?: ServerTls | undefined;
}

export interface HttpListenerDependencies {
  readonly handler: RequestHandler;
  readonly connections: Connections;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether each connection should end after the answer that it waits for. */
  readonly isClosing: () => boolean;
}

function serveRequests(
  { server, transportOf }: HttpListener,
  { writeTimeoutMs }: HttpListenerOptions,
  { handler, connections, logger, clock, isClosing }: HttpListenerDependencies,
): void {
  server.on('request', (request, response) => {
    connections.answering(transportOf(request.socket), response);
    if (isClosing()) response.setHeader('Connection', 'close');
    response.on('error', (error) => logger.debug({ error }, 'client went away'));
    // Node's own socket timeout restarts at every byte: a client that reads slowly would never meet it.
    const cancelTimer = clock.after(writeTimeoutMs, () => {
      logger.debug(
        { after_seconds: writeTimeoutMs / 1000 },
        'client took too long, connection dropped',
      );
      response.destroy();
    });
    response.once('close', () => {
      cancelTimer();
      if (isClosing()) server.closeIdleConnections();
    });
    handler(request, response).catch((error: unknown) => {
      logger.error({ error }, 'answer could not be sent');
      response.destroy();
    });
  });
}

function openedWith(
  { tls, headersTimeoutMs = defaultHeadersTimeoutMs }: HttpListenerOptions,
  dependencies: HttpListenerDependencies,
): HttpListener {
  const limits: ServerOptions = {
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: headersTimeoutMs / 10,
  };
  if (tls !== undefined) return createTlsListener(tls, limits, dependencies);
  const server = createServer(limits);
  return {
    server,
    renewTls: () => {},
    cutOff: () => server.closeAllConnections(),
    transportOf: (socket) => socket,
  };
}

/** Creates the server of one listening socket. Node itself answers broken requests. */
export function createHttpListener(
  options: HttpListenerOptions,
  dependencies: HttpListenerDependencies,
): HttpListener {
  const opened = openedWith(options, dependencies);
  const { server } = opened;
  server.on('connection', (socket) => dependencies.connections.opened(socket));
  serveRequests(opened, options, dependencies);
  return opened;
}
