import { createDaemon } from '../src/daemon/daemon.ts';
import type { AccountSource } from '../src/model/config.ts';
import type { Values } from '../src/model/polled-series.ts';
import type { SnapshotSink } from '../src/model/snapshot.ts';
import { anAccount, anEntry } from '../test/support/builders.ts';
import { createFakeLogger } from '../test/support/fake-logger.ts';
import { createFakePlatform } from '../test/support/fake-platform.ts';
import { createAges } from './age-histogram.ts';
import { type PacingResult, resultOf } from './pacing-result.ts';
import { apiKey, createVendor, type Scene, type Vendor } from './pacing-vendor.ts';

export interface OursOptions {
  readonly requestsPerMinute: number;
  readonly concurrency: number;
  /** The REST API if it is left out. */
  readonly source?: AccountSource;
}

/** The whole daemon, from its configuration to what it publishes, on the simulated clock. */
export async function runOurs(scene: Scene, options: OursOptions): Promise<PacingResult> {
  const platform = createFakePlatform({
    env: { NEW_RELIC_API_KEY: apiKey },
    openTransport: async () => vendor.transport,
  });
  const { clock } = platform;
  const vendor: Vendor = createVendor(scene, clock);
  const ages = createAges(scene.hosts, {
    fromMs: scene.warmUpMs,
    toMs: scene.warmUpMs + scene.measuredMs,
  });
  const values = new Map<string, Values>();
  let firstSetMs: number | undefined;

  const watch = (sink: SnapshotSink): SnapshotSink => ({
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
      for (const [hostId, value] of snapshot.reading?.hosts ?? []) {
        const { id } = snapshot.application;
        const key = `${id}/${hostId}`;
        // A discovery publishes the same values again.
        if (values.get(key) === value) continue;
        values.set(key, value);
        const nowMs = clock.monotonicMs();
        ages.published(key, vendor.askedMs(id, hostId) ?? 0, nowMs);
        if (values.size === scene.hosts) firstSetMs ??= nowMs;
      }
      sink.publish(snapshot);
    },
  });
  const daemon = await createDaemon(
    { accounts: [anAccount(options)], apps: [anEntry({ poll: { hostNames: true } })] },
    { platform, logger: createFakeLogger(), watch },
  );
  const running = daemon.run(platform.stopSignal);
  await clock.advance(scene.warmUpMs + scene.measuredMs);
  platform.stop();
  await clock.advance(0);
  await running;
  return resultOf(scene, vendor, ages.result(), firstSetMs);
}
