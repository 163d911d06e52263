import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { AccountDependencies } from './application-routes.ts';
import { createCallCounter } from './call-counter.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { graphqlSettingsOf } from './graphql-options.ts';
import { createGraphqlRoutes, type GraphqlRoutes } from './graphql-routes.ts';
import { createJournal, type Journal } from './journal.ts';
import { createQuota } from './quota.ts';
import { createRandom, type Random } from './random.ts';
import { listsMetricNames, type ParsedRequest } from './request.ts';
import { createRequestHandler } from './request-handler.ts';
import { createRoutes, type Routes } from './routes.ts';
import { demoApiKey, type SimulatorOptions } from './simulator-options.ts';
import { createTimeslices } from './timeslices.ts';

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

export interface SimulatorDependencies {
  /** The vendor's time, as in its `Date` headers. It may differ from the client's. */
  readonly clock: Clock;
  /** Only for latencies. Default: made from the seed of the fleet. */
  readonly random?: Random | undefined;
}

const defaultQuotaPerMinute = 1000;
const defaultPageSize = 200;
const defaultMetricNamesPageSize = 1000;
const defaultIngestDelayMs = 180_000;
const defaultJournalLimit = 100_000;

interface HttpListenerOptions {
  readonly host: string;
  readonly port: number;
}

/** A server that can be closed at once, whatever its clients do. */
interface HttpListener {
  /** Resolves with the port when connections are accepted; rejects if the port is taken. */
  open(): Promise<number>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Longer than the pauses between polls, so that no reset races with a request. */
const keepAliveTimeoutMs = 120_000;

function createHttpListener(
  options: HttpListenerOptions,
  onRequest: RequestListener,
): HttpListener {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, onRequest);
  return {
    open: () =>
      new Promise<number>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : options.port);
        });
      }),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

function latencyOf(
  { latencyMs: latency, metricNamesLatencyMs = 0 }: SimulatorOptions,
  random: Random,
): (request: ParsedRequest) => number {
  const [minMs, maxMs] = typeof latency === 'object' ? latency : [latency ?? 0, latency ?? 0];
  const next = (): number => (maxMs > minMs ? minMs + random.next() * (maxMs - minMs) : minMs);
  return ({ endpoint }) => next() + (listsMetricNames(endpoint) ? metricNamesLatencyMs : 0);
}

/** Both APIs of the account. */
interface AccountApis {
  readonly routes: Routes;
  readonly graphql: GraphqlRoutes;
}

function createDependencies(
  { fleet: options, ingestDelayMs }: SimulatorOptions,
  fleet: Fleet,
  clock: Clock,
): AccountDependencies {
  const counterOptions = {
    seed: options?.seed ?? 1,
    traffic: options?.traffic ?? 'daily',
    ingestDelayMs: ingestDelayMs ?? defaultIngestDelayMs,
  };
  const calls = createCallCounter(counterOptions, { clock });
  return { fleet, calls, timeslices: createTimeslices(counterOptions, { calls, clock }), clock };
}

function createApis(options: SimulatorOptions, fleet: Fleet, clock: Clock): AccountApis {
  const routeOptions = {
    pageSize: options.pageSize ?? defaultPageSize,
    metricNamesPageSize: options.metricNamesPageSize ?? defaultMetricNamesPageSize,
    linkStyle: options.linkStyle ?? 'observed',
    shuffle: options.shuffle ?? 'none',
    hostsEndpoint: options.hostsEndpoint ?? true,
    removedHost: options.removedHost ?? 'empty',
    idleMetric: options.idleMetric ?? 'zero',
  };
  const dependencies = createDependencies(options, fleet, clock);
  return {
    routes: createRoutes(routeOptions, dependencies),
    graphql: createGraphqlRoutes(graphqlSettingsOf(options.graphql ?? {}), dependencies),
  };
}

export function createSimulator(
  options: SimulatorOptions,
  dependencies: SimulatorDependencies,
): Simulator {
  const { clock } = dependencies;
  const apiKeys = options.apiKeys ?? [demoApiKey];
  const listenHost = options.listenHost ?? '127.0.0.1';
  const fleet = createFleet(options.fleet ?? {}, { clock });
  const journal = createJournal(options.journalLimit ?? defaultJournalLimit);
  const quotaOptions = {
    perMinute: options.quotaPerMinute ?? defaultQuotaPerMinute,
    phaseMs: options.quotaPhaseMs ?? 0,
  };
  const quota = createQuota(quotaOptions, { clock });
  const apis = createApis(options, fleet, clock);
  const random = dependencies.random ?? createRandom(options.fleet?.seed ?? 1);
  const handler = createRequestHandler(
    { apiKeys, intercept: options.intercept },
    {
      clock,
      journal,
      quota,
      ...apis,
      nextLatencyMs: latencyOf(options, random),
    },
  );
  const listener = createHttpListener(
    { host: listenHost, port: options.port ?? 0 },
    (incoming, response) => {
      handler.handle(incoming, response);
    },
  );

  return {
    start: async () => {
      const port = await listener.open();
      const authority = listenHost.includes(':') ? `[${listenHost}]` : listenHost;
      return { baseUrl: `http://${authority}:${port}`, port };
    },
    stop: async () => {
      handler.cancel();
      await listener.close();
    },
    handle: (incoming, response) => {
      handler.handle(incoming, response);
    },
    apiKeys,
    fleet,
    journal,
    violations: () => quota.violations() + apis.graphql.violations(),
    inFlight: () => handler.inFlight(),
  };
}
