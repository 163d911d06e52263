import type { Server } from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { ServerTls } from '../model/web-config.ts';
import { createConnections } from './connections.ts';
import { createHttpListener } from './http-listener.ts';
import { listenErrorOf, parseListenAddress } from './listen-address.ts';
import { createReadiness } from './readiness.ts';
import {
  createRequestHandler,
  type HandlerDependencies,
  type HandlerOptions,
} from './request-handler.ts';
import type { HttpListener } from './tls-listener.ts';

export interface MetricsServerOptions extends HandlerOptions {
  /** `[host]:port`. Without a host it means all interfaces; port 0 means a free port. */
  readonly listenAddresses: readonly string[];
  /** An answer is cut off if its client has not read all of it within this time; default 30 s. */
  readonly writeTimeoutMs?: number;
}

export interface MetricsServerDependencies extends HandlerDependencies {
  readonly clock: Clock;
  /** Asked whenever it begins to listen; `undefined` for plain HTTP. */
  readonly tls?: (() => ServerTls | undefined) | undefined;
}

/** Where the server actually listens. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

export interface MetricsServer {
  /** Listens on all addresses. Rejects with a `ListenError`; then it listens nowhere. */
  listen(): Promise<readonly BoundAddress[]>;
  /** New connections get this certificate and these rules. Does nothing without TLS. */
  renewTls(tls: ServerTls): void;
  /** The first step of a shutdown: the readiness probe fails, everything else goes on. */
  setNotReady(): void;
  /**
   * Stops accepting connections, answers the requests in flight, and resolves when every connection
   * is gone. Those that remain after `deadlineMs`, by default 3 seconds, are cut off.
   */
  close(deadlineMs?: number): Promise<void>;
}

const defaultWriteTimeoutMs = 30_000;
/** Scrapes in flight are answered until then; the whole stop may take five seconds. */
const defaultCloseDeadlineMs = 3000;
/** Half of the 1024 descriptors that some systems allow a process: the polls need some too. */
const maxConnections = 500;

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

async function stopListening({ server }: HttpListener): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}

/** Creates the HTTP server of the exporter. It does not listen before `listen`. */
export function createMetricsServer(
  options: MetricsServerOptions,
  dependencies: MetricsServerDependencies,
): MetricsServer {
  const { logger, clock } = dependencies;
  const { writeTimeoutMs = defaultWriteTimeoutMs } = options;
  const readiness = createReadiness();
  const handler = createRequestHandler(options, dependencies, readiness);
  const connections = createConnections(maxConnections, { clock, logger });
  const listeners: HttpListener[] = [];
  let closed: Promise<void> | undefined;

  const listenOn = async (address: string): Promise<BoundAddress> => {
    const listener = createHttpListener(
      { writeTimeoutMs, tls: dependencies.tls?.() },
      { handler, connections, logger, clock, isClosing: () => closed !== undefined },
    );
    const bound = await startListening(listener.server, address);
    listener.server.on('error', (error) => logger.error({ error }, 'server failed'));
    listeners.push(listener);
    return bound;
  };

  const listen = async (): Promise<readonly BoundAddress[]> => {
    const bound: BoundAddress[] = [];
    try {
      for (const address of options.listenAddresses) bound.push(await listenOn(address));
    } catch (error) {
      await Promise.all(listeners.splice(0).map(stopListening));
      throw error;
    }
    return bound;
  };

  const closeAll = async (deadlineMs: number): Promise<void> => {
    const cancel = clock.after(deadlineMs, () => {
      for (const listener of listeners) listener.cutOff();
    });
    await Promise.all(listeners.map(stopListening));
    cancel();
  };

  return {
    listen,
    renewTls: (tls) => {
      for (const listener of listeners) listener.renewTls(tls);
    },
    setNotReady: () => readiness.endService(),
    close: async (deadlineMs = defaultCloseDeadlineMs) => {
      readiness.endService();
      closed ??= closeAll(deadlineMs);
      return closed;
    },
  };
}
