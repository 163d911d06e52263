import { createServer, type Server, type ServerOptions } from 'node:http';
import type { ServerTls } from '../model/web-config.ts';
import { type BoundedLogger, createBoundedLogger } from '../publish/bounded-logger.ts';
import { Connections } from './connections.ts';
import { listenErrorOf, parseListenAddress } from './listen-address.ts';
import {
  createRequestHandler,
  Readiness,
  type RouteOptions,
  type ServerContext,
} from './routes.ts';
import { createTlsServer, type HttpServer } from './tls-server.ts';

export interface MetricsServerOptions extends RouteOptions {
  /** `[host]:port`. Without a host it means all interfaces; port 0 means a free port. */
  readonly listenAddresses: readonly string[];
  /** An answer is cut off if its client has not read all of it within this time; default 30 s. */
  readonly writeTimeoutMs?: number;
  /** The limit of open connections, for all addresses together; default 500. */
  readonly maxConnections?: number;
}

/** Where the server actually listens. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * No connection ends because it is slow or idle: there is a limit of their number. After a standstill Node would
 * end them before it reads what came over them. The system ends those whose client is gone.
 */
const noTimeouts: ServerOptions = {
  keepAliveTimeout: 0,
  headersTimeout: 0,
  requestTimeout: 0,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
};
const defaultWriteTimeoutMs = 30_000;
/** Scrapes in flight are answered until then; the whole stop may take five seconds. */
const defaultCloseDeadlineMs = 3000;
/** Half of the 1024 descriptors that some systems allow a process: the polls need some too. */
const defaultMaxConnections = 500;

/** The HTTP server of the exporter. It does not listen before `listen`. */
export class MetricsServer {
  readonly #options: MetricsServerOptions;
  readonly #context: ServerContext;
  readonly #logger: BoundedLogger;
  readonly #readiness = new Readiness();
  readonly #handler;
  readonly #connections: Connections;
  readonly #listening: HttpServer[] = [];
  #closed: Promise<void> | undefined;

  constructor(options: MetricsServerOptions, context: ServerContext) {
    const { maxConnections = defaultMaxConnections } = options;
    // A flood of clients is no flood of lines.
    this.#logger = createBoundedLogger(context.logger, context.clock);
    this.#options = options;
    this.#context = { ...context, logger: this.#logger };
    this.#handler = createRequestHandler(options, this.#context, this.#readiness);
    this.#connections = new Connections(maxConnections, this.#logger);
  }

  /** Listens on all addresses. Rejects with a `ListenError`; then it listens nowhere. */
  async listen(): Promise<readonly BoundAddress[]> {
    const bound: BoundAddress[] = [];
    try {
      for (const address of this.#options.listenAddresses) {
        bound.push(await this.#listenOn(address));
      }
    } catch (error) {
      await Promise.all(this.#listening.splice(0).map(stopListening));
      throw error;
    }
    return bound;
  }

  /** New connections get this certificate and these rules. Does nothing without TLS. */
  renewTls(tls: ServerTls): void {
    for (const listening of this.#listening) listening.renewTls(tls);
  }

  /** The first step of a shutdown: the readiness probe fails, everything else goes on. */
  setNotReady(): void {
    this.#readiness.endService();
  }

  /**
   * Stops accepting connections, answers the requests in flight, and resolves when every connection
   * is gone. Those that remain after `deadlineMs`, by default 3 seconds, are cut off.
   */
  async close(deadlineMs: number = defaultCloseDeadlineMs): Promise<void> {
    this.setNotReady();
    if (this.#closed === undefined) {
      this.#closed = this.#close(deadlineMs);
    }
    return this.#closed;
  }

  async #close(deadlineMs: number): Promise<void> {
    const cancel = this.#context.clock.after(deadlineMs, () => this.#connections.cutOff());
    await Promise.all(this.#listening.map(stopListening));
    cancel();
    this.#logger.stop();
  }

  async #listenOn(address: string): Promise<BoundAddress> {
    const { tls } = this.#context.access?.config() ?? {};
    const created: HttpServer =
      tls === undefined
        ? { server: createServer(noTimeouts), renewTls: () => {} }
        : createTlsServer(tls, noTimeouts, this.#connections, this.#context);
    const { server } = created;
    server.on('connection', (socket) => this.#connections.opened(socket));
    this.#serveRequests(server);
    const bound = await startListening(server, address);
    server.on('error', (error) => this.#context.logger.error({ error }, 'server failed'));
    this.#listening.push(created);
    return bound;
  }

  #serveRequests(server: Server): void {
    const { logger, clock } = this.#context;
    const { writeTimeoutMs = defaultWriteTimeoutMs } = this.#options;
    server.on('request', (request, response) => {
      // With its connection, Node closes the response that is being sent, but none to a pipelined request behind it.
      request.once('close', () => response.closed || response.emit('close'));
      this.#connections.answering(response);
      if (this.#closed !== undefined) response.setHeader('Connection', 'close');
      response.on('error', (error) => logger.debug({ error }, 'client went away'));
      // Node's own socket timeout restarts at every byte: a client that reads slowly would never meet it.
      const cancelTimer = clock.after(writeTimeoutMs, () => {
        const fields = { after_seconds: writeTimeoutMs / 1000 };
        logger.debug(fields, 'client took too long, connection dropped');
        response.destroy();
      });
      response.once('close', () => {
        cancelTimer();
        if (this.#closed !== undefined) server.closeIdleConnections();
      });
      this.#handler(request, response).catch((error: unknown) => {
        logger.error({ error }, 'answer could not be sent');
        response.destroy();
      });
    });
  }
}

async function startListening(server: Server, text: string): Promise<BoundAddress> {
  const { host, port } = parseListenAddress(text);
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => reject(listenErrorOf(text, error));
    server.once('error', fail);
    server.listen(host === undefined ? { port } : { host, port }, () => {
      server.removeListener('error', fail);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw listenErrorOf(text, new Error('the system names no address for it'));
  }
  return { host: address.address, port: address.port };
}

async function stopListening({ server }: HttpServer): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
