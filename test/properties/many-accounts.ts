import { createDaemon } from '../../src/daemon/accounts.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { createLogger } from '../../src/publish/logger.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const budget = 10;

/** Each account has a key of its own. */
function keyOf(name: string): string {
  return `Secret${name}${Math.imul(Number(name.slice(8)) + 1, 0x9e3779b1) >>> 0}`;
}

/** Every account reads one or two applications. */
function idsOf(name: string): readonly string[] {
  return Number(name.slice(8)) % 2 === 0 ? ['101'] : ['101', '102'];
}

function configOf(chosen: readonly string[]): Config {
  const poll = { intervalMs: 2 * minuteMs, discoveryIntervalMs: 5 * minuteMs };
  return {
    accounts: chosen.map((name) =>
      anAccount({ name, apiKey: { kind: 'file', path: name }, requestsPerMinute: budget }),
    ),
    apps: chosen.flatMap((account) =>
      idsOf(account).map((id) => anEntry({ account, selector: { kind: 'id', id }, poll })),
    ),
  };
}

/** What the pages say, and what was sent. */
interface ManyAccounts {
  /** The accounts of which all applications are shown with good values. */
  ready(): Promise<readonly string[]>;
  /** All accounts that stand on any page. */
  shown(): Promise<readonly string[]>;
  apply(chosen: readonly string[]): Promise<void>;
  advance(ms: number): Promise<void>;
  /** The accounts that sent anything since this was last asked. */
  senders(): readonly string[];
  /** Rules that were broken. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

async function manyAccounts(names: readonly string[]): Promise<ManyAccounts> {
  const problems: string[] = [];
  const fake = createFakePlatform();
  const { clock } = fake;
  const simulator = createSimulator(
    {
      apiKeys: names.map(keyOf),
      latencyMs: 100,
      quotaPerMinute: 1_000_000,
      journalLimit: 1,
      fleet: {
        applications: [101, 102].map((id) => ({ id, name: `app ${id}`, kind: 'web', hosts: 1 })),
      },
    },
    { clock },
  );
  const wire = inMemoryTransport(simulator);
  const sentMs = new Map<string, readonly number[]>();
  let senders = new Set<string>();
  const nameOf = new Map(names.map((name) => [keyOf(name), name]));
  const note = (text: string, where: string): void => {
    if (text.includes('Secretaccount')) problems.push(`a key stands in ${where}`);
  };
  const platform: Platform = {
    ...fake,
    stderr: { write: (text) => note(text, 'the log'), on: () => undefined },
    readFile: async (path) => new TextEncoder().encode(keyOf(path)),
    openTransport: async () => ({
      send: async (request, headers, signal) => {
        const key = headers['Api-Key'] ?? '';
        const nowMs = clock.monotonicMs();
        const recent = (sentMs.get(key) ?? []).filter((atMs) => atMs >= nowMs - minuteMs);
        sentMs.set(key, [...recent, nowMs]);
        senders.add(nameOf.get(key) ?? key);
        if (recent.length >= budget) problems.push(`${key}: ${recent.length + 1} calls in 60 s`);
        return wire.send(request, headers, signal);
      },
      close: async () => {},
    }),
  };
  const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, platform);
  const daemon = await createDaemon(configOf(names), { platform, logger });
  const running = daemon.run(platform.stopSignal);
  const pages = async (): Promise<string> => {
    const text = `${Buffer.concat((await daemon.store.page()).identity).toString()}${await daemon.metrics.text()}`;
    note(text, 'a page');
    note(JSON.stringify(daemon.status()), 'the status');
    return text;
  };
  return {
    problems,
    ready: async () => {
      const good = (await pages()).matchAll(
        /^newrelic_application_poll_success\{account="([^"]+)".* 1$/gmu,
      );
      const counts = new Map<string, number>();
      for (const [, name = ''] of good) counts.set(name, 1 + (counts.get(name) ?? 0));
      return names.filter((name) => counts.get(name) === idsOf(name).length);
    },
    shown: async () => {
      const all = (await pages()).matchAll(/account="([^"]+)"/gu);
      return [...new Set([...all].map(([, name = '']) => name))];
    },
    apply: async (chosen) => {
      const applied = daemon.apply(configOf(chosen));
      await clock.advance(100);
      await applied;
    },
    advance: async (ms) => clock.advance(ms),
    senders: () => {
      const before = senders;
      senders = new Set();
      return [...before];
    },
    stop: async () => {
      fake.stop();
      await clock.advance(0);
      await running;
      await daemon.close();
      if (clock.pendingTimers() > 0) problems.push(`${clock.pendingTimers()} timers are left`);
    },
  };
}

/** What became of them: which were ready, shown, or sent anything, where others were expected. */
export interface ComingAndGoing {
  /** Accounts that were not ready when they should have been, or were when they should not. */
  readonly wrong: readonly string[];
  readonly problems: readonly string[];
}

/** Starts so many accounts, takes some of them out by a reload, and puts them back by another one. */
export async function comeAndGo(count: number, removed: number): Promise<ComingAndGoing> {
  const names = Array.from({ length: count }, (_, index) => `account-${index}`);
  const kept = names.slice(removed);
  const bench = await manyAccounts(names);
  const wrong: string[] = [];
  const compare = (what: string, found: readonly string[], expected: readonly string[]): void => {
    const [are, should] = [new Set(found), new Set(expected)];
    const missing = expected.filter((name) => !are.has(name));
    const extra = found.filter((name) => !should.has(name));
    wrong.push(...missing.map((name) => `${what}: ${name} is missing`));
    wrong.push(...extra.map((name) => `${what}: ${name} is there`));
  };
  await bench.advance(10 * secondMs);
  compare('ready at first', await bench.ready(), names);
  await bench.advance(3 * minuteMs);
  await bench.apply(kept);
  bench.senders();
  compare('shown after the reload', await bench.shown(), kept);
  await bench.advance(6 * minuteMs);
  compare('sending after the reload', bench.senders(), kept);
  compare('ready after the reload', await bench.ready(), kept);
  await bench.apply(names);
  await bench.advance(10 * secondMs);
  compare('ready at last', await bench.ready(), names);
  await bench.advance(3 * minuteMs);
  await bench.stop();
  return { wrong, problems: bench.problems };
}
