import { getEventListeners } from 'node:events';
import { getHeapCodeStatistics } from 'node:v8';
import { createDaemon } from '../../src/daemon/accounts.ts';
import type { AccountSource, AppEntry, Config } from '../../src/model/config.ts';
import type { Logger } from '../../src/model/telemetry.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { createRandom } from '../../src/simulator/random.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { createChangingVendor } from './changing-vendor.ts';

export interface SoakOptions {
  readonly applications: number;
  readonly hosts: number;
  readonly seed: number;
  /** The API of all accounts. Default: REST. */
  readonly source?: AccountSource;
}

/** What must not grow, after a garbage collection. */
export interface Measurement {
  readonly heapBytes: number;
  /** The part of it that is compiled code, which V8 goes on making for a long time. */
  readonly codeBytes: number;
  readonly rssBytes: number;
  /** What keeps the event loop alive: sockets, real timers, and so on. */
  readonly resources: number;
  /** Timers on the simulated clock. */
  readonly timers: number;
  /** Listeners on the signals that live as long as the daemon or an account. */
  readonly listeners: number;
  /** Series of vendor data, and the ones that there should be. */
  readonly series: number;
  readonly selfSeries: number;
  /** Names of accounts in the self-metrics. */
  readonly accounts: readonly string[];
  /** Since the last measurement. */
  readonly logLines: number;
  readonly requests: number;
  readonly faults: number;
}

/** The whole daemon above the socket, on simulated time, with a vendor that never keeps still. */
export interface Soak {
  /** One minute in which hosts and applications come and go, and calls fail. */
  cycle(): Promise<void>;
  /** Minutes with the first configuration and without a failure: then two measurements compare. */
  calmDown(): Promise<void>;
  measure(collectGarbage: () => void): Promise<Measurement>;
  stop(): Promise<void>;
}

/** Longer than the longest pause after a 429, and than a host that is gone is listed. */
const calmMinutes = 7;
const scrapeEvery = 7;
const reloadEvery = 50;
const replaceVendorEvery = 250;
const rotateKeysEvery = 10;
/** Ids that the account has not, other ones in every configuration. */
const missingIds = 15;

const keyFiles = ['/keys/0', '/keys/1'] as const;
const vendorKeys = ['NRAKSOAKED0', 'NRAKSOAKED1'] as const;

/** Signals of the accounts: each account creates one in here. */
async function watchingSignals<Value>(
  signals: Set<WeakRef<AbortSignal>>,
  run: () => Promise<Value>,
): Promise<Value> {
  const Original = globalThis.AbortController;
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      signals.add(new WeakRef(this.signal));
    }
  };
  try {
    return await run();
  } finally {
    globalThis.AbortController = Original;
  }
}

function listenersOf(signals: Set<WeakRef<AbortSignal>>): number {
  let listeners = 0;
  for (const reference of signals) {
    const signal = reference.deref();
    if (signal === undefined || signal.aborted) signals.delete(reference);
    else listeners += getEventListeners(signal, 'abort').length;
  }
  return listeners;
}

/** Every configuration has other labels and ids, and every other one an account never seen before. */
function configOf(generation: number, source: AccountSource): Config {
  const poll: Parameters<typeof anEntry>[0] = { poll: { hostNames: true } };
  const entries: AppEntry[] = [anEntry({ ...poll, labels: { generation: `${generation % 3}` } })];
  for (let index = 0; index < missingIds; index += 1) {
    const id = `${9_000_000 + generation * missingIds + index}`;
    entries.push(anEntry({ ...poll, selector: { kind: 'id', id } }));
  }
  const accounts = [anAccount({ source, apiKey: { kind: 'file', path: keyFiles[0] } })];
  if (generation % 2 === 1) {
    const name = `visitor-${generation}`;
    accounts.push(anAccount({ name, source, apiKey: { kind: 'file', path: keyFiles[1] } }));
    entries.push(anEntry({ ...poll, account: name, hosts: false }));
  }
  return { accounts, apps: entries };
}

/** The vendor knows every key that begins with one of its own: a rotated one is never seen twice. */
function knowingRotatedKeys(vendor: RawTransport): RawTransport {
  return {
    ...vendor,
    send: async (request, headers, signal) => {
      const key = vendorKeys.find((one) => headers['Api-Key']?.startsWith(one) === true) ?? '';
      return vendor.send(request, { ...headers, 'Api-Key': key }, signal);
    },
  };
}

function countingLogger(count: () => void): Logger {
  return { debug: () => undefined, info: count, warn: count, error: count };
}

export async function startSoak(options: SoakOptions): Promise<Soak> {
  const random = createRandom(options.seed);
  const { source = { kind: 'rest', accountId: undefined } } = options;
  const openTransport = async (): Promise<RawTransport> => knowingRotatedKeys(vendor.transport);
  const files: Record<string, string> = {};
  const rotateKeys = (): void => {
    for (const [index, path] of keyFiles.entries()) {
      files[path] = `${vendorKeys[index]}${String(cycles).padStart(8, '0')}`;
    }
  };
  let cycles = 0;
  rotateKeys();
  const platform = createFakePlatform({ files, openTransport, random: () => random.next() });
  const { clock } = platform;
  const vendor = createChangingVendor({ ...options, keys: vendorKeys }, { clock, random });
  const signals = new Set<WeakRef<AbortSignal>>();
  let logLines = 0;
  const logger = countingLogger(() => {
    logLines += 1;
  });
  const daemon = await watchingSignals(signals, async () =>
    createDaemon(configOf(0, source), { platform, logger }),
  );
  const running = daemon.run(platform.stopSignal);

  const scrape = async (): Promise<{ readonly vendor: string; readonly self: string }> => {
    const page = await daemon.store.page();
    return { vendor: Buffer.concat(page.identity).toString(), self: await daemon.metrics.text() };
  };

  const reload = async (generation: number): Promise<void> => {
    await watchingSignals(signals, async () => daemon.apply(configOf(generation, source)));
  };

  return {
    cycle: async () => {
      cycles += 1;
      if (cycles % replaceVendorEvery === 0) vendor.replace();
      if (cycles % rotateKeysEvery === 0) rotateKeys();
      if (cycles % reloadEvery === 0) await reload(cycles / reloadEvery);
      vendor.change();
      await clock.advance(minuteMs);
      if (cycles % scrapeEvery === 0) await scrape();
    },
    calmDown: async () => {
      vendor.calm();
      await reload(0);
      await clock.advance(calmMinutes * minuteMs);
    },
    measure: async (collectGarbage) => {
      const { vendor: page, self } = await scrape();
      for (let round = 0; round < 3; round += 1) {
        collectGarbage();
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      const { heapUsed, rss } = process.memoryUsage();
      const measurement = {
        heapBytes: heapUsed,
        codeBytes: getHeapCodeStatistics().code_and_metadata_size,
        rssBytes: rss,
        resources: process.getActiveResourcesInfo().length,
        timers: clock.pendingTimers(),
        listeners: listenersOf(signals) + getEventListeners(platform.stopSignal, 'abort').length,
        series: samplesOf(page).length,
        selfSeries: samplesOf(self).length,
        accounts: accountsOf(self),
        logLines,
        ...vendor.counts(),
      };
      logLines = 0;
      return measurement;
    },
    stop: async () => {
      platform.stop();
      await clock.advance(0);
      await running;
      await daemon.close();
    },
  };
}

function samplesOf(page: string): readonly string[] {
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function accountsOf(page: string): readonly string[] {
  const names = [...page.matchAll(/account="([^"]*)"/gu)].map(([, name]) => name ?? '');
  return [...new Set(names)].toSorted();
}
