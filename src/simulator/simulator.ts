import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import { CallCounter } from './call-counter.ts';
import { Fleet } from './fleet.ts';
import { graphqlSettingsOf } from './graphql-options.ts';
import { GraphqlRoutes } from './graphql-routes.ts';
import { Journal } from './journal.ts';
import { RequestHandler } from './request-handler.ts';
import { RestRoutes } from './rest-routes.ts';
import { demoApiKey, type SimulatorOptions } from './simulator-options.ts';

/** One account of the vendor behind a real HTTP port. */
export interface Simulator {
  /** Starts to listen; rejects if the port is taken. */
  start(): Promise<{ readonly baseUrl: string; readonly port: number }>;
  /** Cuts every connection and drops the answers that were not sent yet. */
  stop(): Promise<void>;
  /** Serves one request without the port: for tests with a simulated clock. */
  handle(incoming: IncomingMessage, response: ServerResponse): void;
  readonly apiKeys: readonly string[];
  readonly fleet: Fleet;
  readonly journal: Journal;
  /** The number of requests and NRQL queries over a limit, of both APIs and all keys together. */
  violations(): number;
  /** The number of requests in flight. */
  inFlight(): number;
}

/** Longer than the pauses between polls, so that no reset races with a request. */
const keepAliveTimeoutMs = 120_000;

/** Resolves with the port when connections are accepted; rejects if the port is taken. */
async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** `clock` is the vendor's time, as in its `Date` headers. It may differ from the client's. */
export function createSimulator(
  options: SimulatorOptions,
  { clock }: { readonly clock: Clock },
): Simulator {
  const { apiKeys = [demoApiKey], listenHost = '127.0.0.1' } = options;
  const { seed = 1, traffic = 'daily' } = options.fleet ?? {};
  const { ingestDelayMs = 180_000 } = options;
  const calls = new CallCounter({ seed, traffic, ingestDelayMs }, clock);
  const account = { fleet: new Fleet(options.fleet ?? {}, clock), calls, clock };
  const journal = new Journal(options.journalLimit ?? 100_000);
  const handler = new RequestHandler(options, clock, journal, {
    rest: new RestRoutes(options, account),
    graphql: new GraphqlRoutes(graphqlSettingsOf(options.graphql ?? {}), account),
  });
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (incoming, response) => {
    handler.handle(incoming, response);
  });

  return {
    start: async () => {
      const port = await listen(server, options.port ?? 0, listenHost);
      const authority = listenHost.includes(':') ? `[${listenHost}]` : listenHost;
      return { baseUrl: `http://${authority}:${port}`, port };
    },
    stop: async () => {
      handler.cancel();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
    handle: (incoming, response) => {
      handler.handle(incoming, response);
    },
    apiKeys,
    fleet: account.fleet,
    journal,
    violations: () => handler.violations,
    inFlight: () => handler.inFlight,
  };
}
