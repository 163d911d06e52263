/**
 * The whole daemon with one source on a simulated clock, in a process of its own; everything but the
 * socket is the real thing. Arguments: the source, applications, hosts of each, minutes to measure, and
 * the metrics that are polled, as a list with commas. Sends what it has measured.
 */
import { createDaemon } from '../src/daemon/daemon.ts';
import { transactionTypes } from '../src/model/application.ts';
import type { AccountSource } from '../src/model/config.ts';
import { seriesOf, type Values } from '../src/model/polled-series.ts';
import { presetNames } from '../src/model/presets.ts';
import type { SnapshotSink } from '../src/model/snapshot.ts';
import { answerLimits } from '../src/transport/answer-body.ts';
import { anAccount, anEntry } from '../test/support/builders.ts';
import { createFakePlatform } from '../test/support/fake-platform.ts';
import { createCannedVendor } from './canned-vendor.ts';
import { createTurnClock, createTurns } from './turns.ts';

export interface SourceCost {
  readonly discoverySeconds: number;
  readonly discoveryCalls: number;
  readonly firstSetSeconds: number;
  /** The longest turn of the event loop in each phase. */
  readonly turnsMs: Readonly<Record<string, number>>;
  /** CPU time of all threads for one new value of each host. */
  readonly cpuMsPerRefresh: number;
  readonly callsPerRefresh: number;
  /** What is resident at most, beyond what was before the daemon was made. */
  readonly peakGrowthBytes: number;
  /** The heap after a garbage collection, beyond what it was before the daemon was made. */
  readonly heapBytes: number;
}

const [
  kind = 'rest',
  applications = '500',
  hostsEach = '20',
  minutes = '15',
  metricList = 'throughput',
] = process.argv.slice(2);
const metrics = presetNames.filter((name) => metricList.split(',').includes(name));
const minuteMs = 60_000;
const hosts = Number(applications) * Number(hostsEach);
const source: AccountSource =
  kind === 'nerdgraph' ? { kind, accountId: 1_234_567 } : { kind: 'rest', accountId: undefined };
const operations = [
  'list_applications',
  'list_hosts',
  'application_metrics',
  'host_metrics',
] as const;

const turns = createTurns();
const clock = createTurnClock(turns);
const vendor = createCannedVendor(
  {
    applications: Number(applications),
    hostsEach: Number(hostsEach),
    latencyMs: 600,
    series: seriesOf(metrics, transactionTypes),
  },
  { clock, maxBytes: answerLimits(96 * 1024 ** 2) },
);
const platform = {
  ...createFakePlatform({
    env: { NEW_RELIC_API_KEY: 'NRAK-BENCH' },
    openTransport: async () => vendor,
  }),
  clock,
};
const values = new Map<string, Map<string, Values>>();
let published = 0;
let known = 0;

function watch(sink: SnapshotSink): SnapshotSink {
  return {
    remove: (account, applicationId) => {
      sink.remove(account, applicationId);
    },
    accountUp: (account, up) => {
      sink.accountUp(account, up);
    },
    removeAccount: (account) => {
      sink.removeAccount(account);
    },
    publish: (snapshot) => {
      const { id } = snapshot.application;
      const before = values.get(id) ?? new Map<string, Values>();
      values.set(id, before);
      for (const [hostId, value] of snapshot.reading?.hosts ?? []) {
        const old = before.get(hostId);
        if (old === value) continue;
        before.set(hostId, value);
        published += 1;
        if (old === undefined) known += 1;
      }
      sink.publish(snapshot);
    },
  };
}

/** The REST API takes 70 minutes for 50,000 hosts. */
const patienceMs = 24 * 60 * minuteMs;
const nothing = (): void => undefined;
const calls = (): number => operations.reduce((sum, one) => sum + vendor.calls(one), 0);
globalThis.gc?.();
const before = { rss: process.memoryUsage.rss(), heap: process.memoryUsage().heapUsed };
let peakBytes = 0;
const daemon = await createDaemon(
  {
    accounts: [anAccount({ source, concurrency: kind === 'nerdgraph' ? 5 : 8 })],
    apps: [anEntry({ poll: { hostNames: true, metrics } })],
  },
  { platform, logger: { debug: nothing, info: nothing, warn: nothing, error: nothing }, watch },
);
const running = daemon.run(platform.stopSignal);

const turnsMs: Record<string, number> = {};
async function phase(name: string, isOver: () => boolean): Promise<void> {
  await turns.tick();
  turns.longestMs();
  while (!isOver()) {
    if (clock.monotonicMs() > patienceMs) throw new Error(`the phase "${name}" does not end`);
    await clock.advance(100);
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }
  turnsMs[name] = turns.longestMs();
}

await phase('discovery', () => vendor.calls('application_metrics') > 0);
const discoverySeconds = clock.monotonicMs() / 1000;
const discoveryCalls = vendor.calls('list_applications') + vendor.calls('list_hosts');
await phase('first set', () => known === hosts);
const firstSetSeconds = clock.monotonicMs() / 1000;
const steadyMs = clock.monotonicMs() + Number(minutes) * minuteMs;
await phase('steady', () => clock.monotonicMs() >= steadyMs);
const start = { cpu: process.cpuUsage(), published, calls: calls() };
await turns.unwatched(async () => clock.advance(Number(minutes) * minuteMs));
const cpu = process.cpuUsage(start.cpu);
const refreshes = (published - start.published) / hosts;
const callsPerRefresh = (calls() - start.calls) / refreshes;
peakBytes = Math.max(peakBytes, process.resourceUsage().maxRSS * 1024);
globalThis.gc?.();
const cost: SourceCost = {
  discoverySeconds,
  discoveryCalls,
  firstSetSeconds,
  turnsMs,
  cpuMsPerRefresh: (cpu.user + cpu.system) / 1000 / refreshes,
  callsPerRefresh,
  peakGrowthBytes: peakBytes - before.rss,
  heapBytes: process.memoryUsage().heapUsed - before.heap,
};
process.send?.(cost);
platform.stop();
await clock.advance(0);
await running;
