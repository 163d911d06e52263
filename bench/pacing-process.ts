/**
 * One scene of the bench `pacing` in a process of its own: the whole daemon, from its configuration to what
 * it publishes, on a simulated clock. Argument: the build and the scene as JSON. Sends what was measured.
 */

import type * as DaemonModule from '../src/daemon/accounts.ts';
import type { Values } from '../src/model/polled-series.ts';
import { isOfQuery } from '../src/model/snapshot.ts';
import { minuteMs } from '../src/model/time.ts';
import { anAccount, anEntry } from '../test/support/builders.ts';
import { createFakeLogger } from '../test/support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../test/support/fake-platform.ts';
import { type WatchStore, watchStore } from '../test/support/watched-store.ts';
import { type AgeResult, createAges } from './ages.ts';
import { apiKey, createVendor, type Scene, type Vendor, vendorPerMinute } from './pacing-vendor.ts';
import { type Build, moduleOf } from './processes.ts';

/** What one daemon did in one scene. */
export interface PacingResult extends AgeResult {
  readonly refusedPerHour: number;
  /** Calls sent, in per cent of what New Relic allows. */
  readonly quotaPercent: number;
  /** From the start until each host had a value. */
  readonly firstSetSeconds: number;
  /** The most NRQL queries in any minute of the measured time. */
  readonly mostNrqlPerMinute: number;
  readonly callsPerMinute: number;
  /** From the last refusal until the first minute with the whole budget. */
  readonly recoveryMinutes: number;
}

const [build, scene] = JSON.parse(process.argv[2] ?? '[]') as [Build, Scene];
const untilMs = scene.warmUpMs + scene.measuredMs;
const { createDaemon } = await moduleOf<typeof DaemonModule>(build, 'daemon/accounts.js');
const platform: FakePlatform = createFakePlatform({
  env: { NEW_RELIC_API_KEY: apiKey },
  openTransport: async () => vendor.transport,
});
const { clock } = platform;
const vendor: Vendor = createVendor(scene, clock);
const ages = createAges({ fromMs: scene.warmUpMs, toMs: untilMs });
const values = new Map<string, Values>();
let firstSetMs = Number.POSITIVE_INFINITY;

const watch: WatchStore = (store) => ({
  publish: (snapshot) => {
    if (isOfQuery(snapshot)) return;
    for (const [hostId, value] of snapshot.reading?.hosts ?? []) {
      const { id } = snapshot.application;
      const key = `${id}/${hostId}`;
      // A discovery publishes the same values again.
      if (values.get(key) === value) continue;
      values.set(key, value);
      const nowMs = clock.monotonicMs();
      ages.published(key, vendor.askedMs(id, hostId) ?? 0, nowMs);
      if (values.size === scene.hosts) firstSetMs = Math.min(firstSetMs, nowMs);
    }
    store.publish(snapshot);
  },
});

const { requestsPerMinute, concurrency, source, metrics } = scene;
const account =
  source === 'nerdgraph'
    ? ({ kind: source, accountId: 1_234_567 } as const)
    : ({ kind: source, accountId: undefined } as const);
const daemon = await createDaemon(
  {
    accounts: [anAccount({ requestsPerMinute, concurrency, source: account })],
    apps: [anEntry({ poll: { hostNames: true, metrics } })],
  },
  { platform, logger: createFakeLogger() },
);
watchStore(daemon.store, watch);
const running = daemon.run(platform.stopSignal);
await clock.advance(untilMs);
platform.stop();
await clock.advance(0);
await running;

function mostInAMinute(timesMs: readonly number[]): number {
  let [start, most] = [0, 0];
  for (const [index, atMs] of timesMs.entries()) {
    while (atMs - (timesMs[start] ?? atMs) >= minuteMs) start += 1;
    most = Math.max(most, index - start + 1);
  }
  return most;
}

function recoveryMinutes(): number {
  const fromMs = vendor.refusedMs.at(-1) ?? 0;
  const later = vendor.callsMs.filter((atMs) => atMs >= fromMs);
  // The budget holds for any 60 seconds, so that a call of a full minute follows sixty seconds after.
  const full = Math.floor(0.98 * requestsPerMinute);
  const first = later.find((atMs, index) => (later[index + full] ?? Infinity) < atMs + minuteMs);
  return ((first ?? Number.POSITIVE_INFINITY) - fromMs) / minuteMs;
}

const isMeasured = (atMs: number): boolean => atMs >= scene.warmUpMs && atMs < untilMs;
const minutes = scene.measuredMs / minuteMs;
const callsPerMinute = vendor.callsMs.filter(isMeasured).length / minutes;
const result: PacingResult = {
  ...ages.result(),
  refusedPerHour: (60 * vendor.refusedMs.filter(isMeasured).length) / minutes,
  quotaPercent: (100 * callsPerMinute) / vendorPerMinute,
  firstSetSeconds: firstSetMs / 1000,
  mostNrqlPerMinute: mostInAMinute(vendor.nrqlMs.filter(isMeasured)),
  callsPerMinute,
  recoveryMinutes: recoveryMinutes(),
};
process.send?.(result);
process.disconnect();
