import { EventEmitter, once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AccountDetails } from '../../src/model/status.ts';
import { type Page, packedPage } from '../../src/publish/page.ts';
import { MetricsServer, type MetricsServerOptions } from '../../src/web/metrics-server.ts';
import type { ServerContext } from '../../src/web/routes.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { anAccountDetails, aStatusSource } from '../support/status-source.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Running {
  readonly server: MetricsServer;
  readonly port: number;
  /** One for each of `listenAddresses`. */
  readonly ports: readonly number[];
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly get: (path: string, options?: GetOptions) => Promise<Reply>;
}

export interface GetOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function aPage(text: string): Promise<Page> {
  return packedPage([Buffer.from(text)]);
}

/** A page that nobody gets until the test releases it, and then everybody. */
export interface HeldPage {
  readonly page: () => Promise<Page>;
  /** Resolves when as many readers have asked as `aHeldPage` was told to expect; rejects after a while. */
  readonly asked: Promise<unknown>;
  readonly release: (page: Page) => void;
}

/** A reader that is wrongly refused never asks: then the test fails, and does not hang. */
const mostPatienceMs = 30_000;

export function aHeldPage(expected: number): HeldPage {
  const events = new EventEmitter();
  const asked = once(events, 'asked', { signal: AbortSignal.timeout(mostPatienceMs) });
  // Not every test waits for it.
  asked.catch(() => undefined);
  const released = once(events, 'release');
  let count = 0;
  let given: Page = { identity: [], gzip: Buffer.alloc(0), crc: 0 };
  return {
    asked,
    page: async () => {
      count += 1;
      if (count === expected) events.emit('asked');
      await released;
      return given;
    },
    release: (page) => {
      given = page;
      events.emit('release');
    },
  };
}

export function anAccountStatus(overrides: Partial<AccountDetails> = {}): AccountDetails {
  return anAccountDetails({ applications: 2, hosts: 5, polledApplications: 2, ...overrides });
}

/** The whole answer. */
export async function readReply(response: IncomingMessage): Promise<Reply> {
  const parts: Buffer[] = [];
  response.on('data', (part: Buffer) => parts.push(part));
  await once(response, 'end');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(parts),
  };
}

/** Sends a request on a connection of its own and resolves when the head of the answer arrives. */
export async function open(
  port: number,
  path: string,
  options: GetOptions = {},
): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options });
  sent.end();
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
}

export type Overrides = Partial<MetricsServerOptions & ServerContext>;

export function aServer(overrides: Overrides = {}): Omit<Running, 'port' | 'ports' | 'get'> {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const settings = {
    listenAddresses: ['127.0.0.1:0'],
    telemetryPath: '/metrics',
    maxRequests: 40,
    page: async () => aPage('vendor 1\n'),
    selfMetrics: async () => 'self 1\n',
    scraped: () => undefined,
    status: aStatusSource({ accounts: [anAccountStatus()] }),
    nextTurn: settle,
    stalled: () => undefined,
    logger,
    clock,
    ...overrides,
  };
  const server = new MetricsServer(settings, { ...settings, clock });
  return { server, clock, logger };
}

/** Runs a server during `use`, and closes it whatever happens. */
export async function withServer(
  overrides: Overrides,
  use: (running: Running) => Promise<void>,
): Promise<void> {
  const { server, clock, logger } = aServer(overrides);
  const ports = (await server.listen()).map((address) => address.port);
  const [port = 0] = ports;
  try {
    await use({
      server,
      port,
      ports,
      clock,
      logger,
      get: async (path, options) => readReply(await open(port, path, options)),
    });
  } finally {
    const closed = server.close(1);
    await clock.advance(1);
    await closed;
  }
}
