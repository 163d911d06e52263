/**
 * The whole daemon against the simulator, on a simulated clock and without sockets, in a process of its
 * own. Arguments: the source, the metrics as a list with commas, applications, hosts of each, minutes.
 * Sends what it has measured.
 */
import { createDaemon } from '../src/daemon/daemon.ts';
import type { AccountSource } from '../src/model/config.ts';
import { type PresetName, presetNames } from '../src/model/presets.ts';
import { createSimulator } from '../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../test/support/builders.ts';
import { createFakePlatform } from '../test/support/fake-platform.ts';
import { inMemoryTransport } from '../test/support/in-memory-vendor.ts';

export interface MetricsCost {
  /** All calls of the measured minutes, retries included. */
  readonly callsPerMinute: number;
  readonly series: number;
  readonly pageBytes: number;
  readonly compressedBytes: number;
  /** CPU time of building the page after all applications have new values. */
  readonly pageCpuMs: number;
}

const [kind = 'rest', metrics = 'throughput', applications = '200', hosts = '10', minutes = '10'] =
  process.argv.slice(2);
const minuteMs = 60_000;
const apiKey = 'NRAK-BENCH';
const source: AccountSource =
  kind === 'nerdgraph' ? { kind, accountId: 1_234_567 } : { kind: 'rest', accountId: undefined };
const asked: readonly PresetName[] = presetNames.filter((name) =>
  metrics.split(',').includes(name),
);

const platform = createFakePlatform({
  env: { NEW_RELIC_API_KEY: apiKey },
  openTransport: async () => inMemoryTransport(simulator),
});
const simulator = createSimulator(
  {
    apiKeys: [apiKey],
    latencyMs: 50,
    quotaPerMinute: Number.POSITIVE_INFINITY,
    fleet: {
      applications: Number(applications),
      hosts: Number(applications) * Number(hosts),
      kinds: ['both'],
    },
  },
  { clock: platform.clock },
);

const nothing = (): void => undefined;
const daemon = await createDaemon(
  {
    accounts: [anAccount({ source, concurrency: 20, requestsPerMinute: 100_000 })],
    apps: [anEntry({ poll: { metrics: asked, hostNames: false } })],
  },
  { platform, logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } },
);
const running = daemon.run(platform.stopSignal);
await platform.clock.advance(5 * minuteMs);
simulator.journal.clear();
await platform.clock.advance(Number(minutes) * minuteMs);
const calls = simulator.journal.entries().length;
simulator.journal.clear();

const start = process.cpuUsage();
const page = await daemon.store.page();
const { user, system } = process.cpuUsage(start);
const cost: MetricsCost = {
  callsPerMinute: calls / Number(minutes),
  series: daemon.store.seriesOf('production'),
  pageBytes: page.identity.length,
  compressedBytes: page.gzip.length,
  pageCpuMs: (user + system) / 1000,
};
process.send?.(cost);
platform.stop();
await platform.clock.advance(0);
await running;
