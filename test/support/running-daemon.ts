import { expect, onTestFinished } from 'vitest';
import { createDaemon, type Daemon } from '../../src/daemon/accounts.ts';
import type { AccountConfig, AppEntry, Config } from '../../src/model/config.ts';
import type { Shard } from '../../src/model/shard.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import type { UndiciTransportOptions } from '../../src/newrelic/calls/undici-transport.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { anAccount, anEntry } from './builders.ts';
import { createFakeLogger, type FakeLogger } from './fake-logger.ts';
import { createFakePlatform, type FakePlatform } from './fake-platform.ts';
import { inMemoryTransport } from './in-memory-vendor.ts';
import { shopAndCartFleet } from './shop-and-cart.ts';
import { type WatchStore, watchStore } from './watched-store.ts';

export const keyA = 'NRAK-A';
const keyB = 'NRAK-B';

/** Connections that the daemon has opened, and what has become of them. */
export interface OpenedConnections {
  readonly options: UndiciTransportOptions;
  requests: number;
  isClosed: boolean;
}

export interface RunningDaemon {
  readonly platform: FakePlatform;
  /** The files of the platform; a test may change them. */
  readonly files: Record<string, string>;
  readonly simulator: Simulator;
  readonly daemon: Daemon;
  readonly logger: FakeLogger;
  /** In the order in which they were opened. */
  readonly opened: readonly OpenedConnections[];
  readonly page: () => Promise<string>;
  /** From now on the file cannot be read until it is released, as on a network mount that hangs. */
  readonly hangReading: (path: string) => { readonly release: () => void };
  /** Settles when the daemon has ended. */
  readonly done: Promise<void>;
}

export interface RunningDaemonOptions extends Partial<SimulatorOptions> {
  readonly files?: Record<string, string>;
  /** Puts something between the daemon and the vendor. */
  readonly wire?: (wire: RawTransport, options: UndiciTransportOptions) => RawTransport;
  readonly watch?: WatchStore;
  readonly shard?: Shard;
  /** Called before connections are opened; may fail instead of them. */
  readonly opening?: (options: UndiciTransportOptions) => void;
}

/** A test that has a daemon ends with no timer and no connection left. */
async function endDaemon({ platform, daemon, done, opened }: RunningDaemon): Promise<void> {
  platform.stop();
  await platform.clock.advance(0);
  await Promise.allSettled([done]);
  await daemon.close();
  expect(platform.clock.pendingTimers()).toBe(0);
  expect(opened.filter(({ isClosed }) => !isClosed)).toEqual([]);
}

/**
 * A daemon on simulated time, with the keys in `KEY_A` and `KEY_B`, and a vendor with two shops.
 * Every test that has one ends with no timer and no connection left.
 */
export async function aRunningDaemon(
  config: Config,
  options: RunningDaemonOptions = {},
): Promise<RunningDaemon> {
  const { files = {}, wire = (raw) => raw, watch, shard, opening, ...simulated } = options;
  const opened: OpenedConnections[] = [];
  const hanging = new Map<string, Promise<void>>();
  const fake = createFakePlatform({
    env: { KEY_A: keyA, KEY_B: keyB, KEY_C: 'NRAK-C' },
    files,
    openTransport: async (wireOptions) => {
      opening?.(wireOptions);
      const connections = { options: wireOptions, requests: 0, isClosed: false };
      opened.push(connections);
      const raw = wire(inMemoryTransport(simulator), wireOptions);
      return {
        send: async (...request) => {
          connections.requests += 1;
          return raw.send(...request);
        },
        close: async () => {
          connections.isClosed = true;
          await raw.close();
        },
      };
    },
  });
  const platform: FakePlatform = {
    ...fake,
    readFile: async (path) => {
      await hanging.get(path);
      return fake.readFile(path);
    },
  };
  const simulator = createSimulator(
    {
      apiKeys: [keyA, keyB],
      latencyMs: 100,
      ingestDelayMs: 0,
      fleet: shopAndCartFleet(2),
      ...simulated,
    },
    { clock: platform.clock },
  );
  const logger = createFakeLogger();
  const daemon = await createDaemon(config, { platform, logger, shard });
  if (watch !== undefined) watchStore(daemon.store, watch);
  const bench: RunningDaemon = {
    platform,
    files,
    simulator,
    daemon,
    logger,
    opened,
    page: async () => Buffer.concat((await daemon.store.page()).identity).toString(),
    hangReading: (path) => {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      hanging.set(path, released);
      return { release };
    },
    done: daemon.run(platform.stopSignal),
  };
  onTestFinished(async () => endDaemon(bench));
  return bench;
}

/** The account `one`, with the key in `KEY_A`. */
export function accountOne(overrides: Partial<AccountConfig> = {}): AccountConfig {
  return anAccount({ name: 'one', apiKey: { kind: 'env', name: 'KEY_A' }, ...overrides });
}

export function entryByName(name: string, account = 'one'): AppEntry {
  return anEntry({ account, selector: { kind: 'name', name } });
}
