import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import type { Clock } from '../../src/model/clock.ts';
import type { AccountConfig, AccountSource, AppEntry, Config } from '../../src/model/config.ts';
import { type AppSnapshot, isOfQuery } from '../../src/model/snapshot.ts';
import type { Logger } from '../../src/model/telemetry.ts';
import { answerLimits } from '../../src/newrelic/calls/answer-body.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { createUndiciTransport } from '../../src/newrelic/calls/undici-transport.ts';
import { createLogger } from '../../src/publish/logger.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults, type Faults } from '../../src/simulator/faults.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { createPatientClock } from '../support/patient-clock.ts';
import { watchStore } from '../support/watched-store.ts';
import { type LoggedLine, loggedLines } from './logged-lines.ts';
import { readScrape, type Scrape } from './scrape.ts';
import { expectNothingLeft, expectStandingInvariants } from './standing-invariants.ts';

/** One account, its vendor, and what goes wrong there. */
export interface VendorOptions {
  /** The API of all accounts of the bench. Default: REST. */
  readonly source?: AccountSource;
  readonly script?: readonly FaultRule[];
  readonly simulator?: Partial<SimulatorOptions>;
  readonly account?: Partial<AccountConfig>;
  readonly entries?: readonly NonNullable<Parameters<typeof anEntry>[0]>[];
  /** Text of the key file of the account, to be changed by the test. Default: the account's key. */
  readonly keyFile?: () => string;
  /** Comes between the daemon and its vendor, as a network does. */
  readonly network?: (wire: RawTransport, clock: Clock) => RawTransport;
  /** How wrong the clock of the vendor is, seen from here. */
  readonly clockOffsetMs?: number;
  /** When it all begins. Simulated time only. Default: the fake clock's. */
  readonly startWallMs?: number;
  /** The test itself starts the simulator, or puts it behind a server of its own. Sockets only. */
  readonly isStartedByTest?: boolean;
  /** The vendor refuses calls that are within our budget: somebody else uses the key. */
  readonly quotaIsShared?: boolean;
  /** Daemons with the same key, each with the budget of the account. Default: 1. */
  readonly replicas?: number;
  readonly files?: Readonly<Record<string, string>>;
}

export interface Vendor {
  readonly options: VendorOptions;
  readonly account: AccountConfig;
  readonly key: string;
  readonly simulator: Simulator;
  readonly faults: Faults;
}

export interface FaultBench {
  readonly daemon: Daemon;
  /** What the daemon was started with. */
  readonly config: Config;
  readonly platform: FakePlatform;
  /** The platform as the daemon sees it, with its key files and its wire to the vendors. */
  readonly daemonPlatform: Platform;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly vendors: readonly Vendor[];
  /** The account `production`, where the faults are. */
  readonly faulty: Vendor;
  /** Everything that was ever published, the oldest first. */
  readonly published: readonly AppSnapshot[];
  /** Every page that was looked at, all of them valid expositions without a duplicate series. */
  readonly pages: readonly string[];
  /** The page of this moment. */
  scrape(): Promise<Scrape>;
  logs(message?: string): readonly LoggedLine[];
  /** A second daemon with the same configuration; it ends with the first one. */
  startReplica(): Promise<Daemon>;
  /** As SIGTERM does; resolves when the daemon has ended. */
  stop(): Promise<void>;
}

/** `shop` has two hosts, `worker` has one; the traffic differs from minute to minute. */
export const usualApplications: readonly ApplicationSpec[] = [
  {
    id: 101,
    name: 'shop',
    kind: 'both',
    webRpm: 1200,
    otherRpm: 300,
    hosts: [
      { id: 1011, name: 's1' },
      { id: 1012, name: 's2' },
    ],
  },
  { id: 102, name: 'worker', kind: 'other', otherRpm: 600, hosts: [{ id: 1021, name: 'w1' }] },
];

/** So many applications with web traffic, each with so many hosts; no two hosts have one name. */
export function manyApplications(count: number, hosts: number): readonly ApplicationSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    id: 1000 + index,
    name: `application ${index}`,
    kind: 'web',
    webRpm: 600,
    hosts: Array.from({ length: hosts }, (_host, number) => ({
      id: 10_000 + index * hosts + number,
      name: `web-${index}-${number}`,
    })),
  }));
}

function createVendor(name: string, options: VendorOptions, clock: Clock): Vendor {
  const key = `NRAK-${name.toUpperCase()}SECRET0123456789`;
  // A wall clock that jumps here does not jump there.
  const offsetMs = clock.wallMs() - clock.monotonicMs() + (options.clockOffsetMs ?? 0);
  const vendorClock = { ...clock, wallMs: () => clock.monotonicMs() + offsetMs };
  const faults = createFaults(options.script ?? [], { clock: vendorClock });
  const simulator = createSimulator(
    {
      apiKeys: [key],
      intercept: faults.intercept,
      fleet: { applications: usualApplications },
      ...options.simulator,
    },
    { clock: vendorClock },
  );
  const account = anAccount({
    name,
    baseUrl: `http://${name}.invalid`,
    apiKey: { kind: 'file', path: `/keys/${name}` },
    ...(options.source && { source: options.source }),
    ...options.account,
  });
  return { options, account, key, simulator, faults };
}

interface Wiring {
  readonly platform: FakePlatform;
  readonly clock: Clock;
  /** By the name of the account; the first one is where the faults are. */
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly openTransport: Platform['openTransport'];
}

function keyOrFile({ platform, vendors }: Wiring): Platform['readFile'] {
  return async (path) => {
    const vendor = vendors.get(path.replace('/keys/', ''));
    const text = vendor?.options.keyFile?.() ?? vendor?.key;
    return text === undefined ? platform.readFile(path) : new TextEncoder().encode(text);
  };
}

function entriesOf({ account: { name }, options }: Vendor): AppEntry[] {
  return (options.entries ?? [{}]).map(({ poll, ...entry }) =>
    anEntry({ ...entry, account: name, poll: { raw: true, hostNames: true, ...poll } }),
  );
}

async function startBench(wiring: Wiring): Promise<FaultBench> {
  const { platform, clock, vendors, openTransport } = wiring;
  const published: AppSnapshot[] = [];
  const pages: string[] = [];
  const all = [...vendors.values()];
  const [faulty] = all;
  if (faulty === undefined) throw new Error('a bench needs an account');
  const daemonPlatform = { ...platform, clock, openTransport, readFile: keyOrFile(wiring) };
  const logger = await createLogger({ logLevel: 'debug', logFormat: 'json' }, daemonPlatform);
  const config = {
    accounts: all.map(({ account }) => account),
    apps: all.flatMap((one) => entriesOf(one)),
  };
  const running: { readonly daemon: Daemon; readonly done: Promise<void> }[] = [];
  const start = async (): Promise<Daemon> => {
    const daemon = await createDaemon(config, { platform: daemonPlatform, logger });
    watchStore(daemon.store, (store) => ({
      publish: (snapshot) => {
        if (!isOfQuery(snapshot)) published.push(snapshot);
        store.publish(snapshot);
      },
    }));
    const done = daemon.run(platform.stopSignal);
    // `stop` gives the outcome; until then a test that fails first must not leave it unhandled.
    done.catch(() => undefined);
    running.push({ daemon, done });
    return daemon;
  };
  const daemon = await start();

  return {
    daemon,
    config,
    platform,
    daemonPlatform,
    logger,
    clock,
    startReplica: start,
    vendors: all,
    faulty,
    published,
    pages,
    scrape: async () => {
      const vendorPage = Buffer.concat((await daemon.store.page()).identity).toString();
      const text = `${vendorPage}${await daemon.metrics.text()}`;
      const page = readScrape(text);
      pages.push(text);
      return page;
    },
    logs: (message) => loggedLines(platform.stderr.text(), message),
    stop: async () => {
      platform.stop();
      await platform.clock.advance(0);
      for (const one of running) {
        await one.done;
        await one.daemon.close();
      }
    },
  };
}

/** Nothing is wrong with it. */
function neighbourOf({ source }: VendorOptions): VendorOptions {
  return source === undefined ? {} : { source };
}

export interface TimedBench extends FaultBench {
  advance(ms: number): Promise<void>;
  /** Time passes and no timer runs, as while a machine sleeps. */
  suspend(ms: number): void;
}

/**
 * Runs the whole daemon above the socket on a clock of its own, against the account `production`,
 * where the faults are, and the account `neighbour`, where there are none; then checks what must
 * hold whatever happens.
 */
export async function withTimedFaults(
  production: VendorOptions,
  test: (bench: TimedBench) => Promise<void>,
): Promise<void> {
  const platform = createFakePlatform({ files: production.files ?? {} });
  const { startWallMs = platform.clock.wallMs() } = production;
  platform.clock.jumpWall(startWallMs - platform.clock.wallMs());
  let asleepMs = 0;
  const clock: Clock = {
    ...platform.clock,
    monotonicMs: () => platform.clock.monotonicMs() + asleepMs,
    wallMs: () => platform.clock.wallMs() + asleepMs,
  };
  const vendors = new Map(
    Object.entries({ production, neighbour: neighbourOf(production) }).map(([name, options]) => [
      name,
      createVendor(name, options, clock),
    ]),
  );
  const openTransport: Platform['openTransport'] = async ({ baseUrl }) => {
    const vendor = vendors.get(new URL(baseUrl).hostname.replace('.invalid', ''));
    if (vendor === undefined) throw new Error(`no vendor at ${baseUrl}`);
    const wire = inMemoryTransport(vendor.simulator);
    return vendor.options.network?.(wire, clock) ?? wire;
  };
  const bench = await startBench({ platform, clock, vendors, openTransport });
  await test({
    ...bench,
    advance: async (ms) => {
      await platform.clock.advance(ms);
    },
    suspend: (ms) => {
      asleepMs += ms;
    },
  });
  await bench.scrape();
  await bench.stop();
  expectStandingInvariants(bench);
  expectNothingLeft(bench);
}

/** How often everything happens where time is real. */
const quickPoll = { intervalMs: 150, discoveryIntervalMs: 150 } as const;

/**
 * The same over real sockets and in the time that the process runs, with the account `production` alone, intervals of
 * fractions of a second, and a budget to match.
 */
export async function withSocketFaults(
  production: VendorOptions,
  test: (bench: FaultBench) => Promise<void>,
): Promise<void> {
  const clock = createPatientClock();
  const platform = createFakePlatform({ random: () => 0, files: production.files ?? {} });
  const options: VendorOptions = {
    ...production,
    simulator: { quotaPerMinute: 10_000, ...production.simulator },
    account: { requestsPerMinute: 10_000, ...production.account },
    entries: (production.entries ?? [{}]).map((entry) => ({
      ...entry,
      poll: { ...quickPoll, ...entry.poll },
    })),
  };
  const vendor = createVendor('production', options, clock);
  const baseUrl =
    production.isStartedByTest === true
      ? vendor.account.baseUrl
      : (await vendor.simulator.start()).baseUrl;
  const vendors = new Map([['production', { ...vendor, account: { ...vendor.account, baseUrl } }]]);
  const maxBytes = answerLimits(96 * 1024 * 1024);
  const openTransport: Platform['openTransport'] = async (wireOptions) =>
    createUndiciTransport({ ...wireOptions, connectTimeoutMs: 1000 }, { maxBytes });
  const bench = await startBench({ platform, clock, vendors, openTransport });
  try {
    await test(bench);
    await bench.scrape();
  } finally {
    await bench.stop();
    await vendor.simulator.stop();
    clock.stop();
  }
  expectStandingInvariants(bench);
}
