import { loadConfig } from '../../src/config/load-config.ts';
import { createDaemon, type Daemon } from '../../src/daemon/daemon.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { apiKey, createVendor, type SituationVendor } from './situation-vendor.ts';
import type { Situation, SituationExporter } from './situations.ts';

/** The page of an exporter; `undefined` from one that is down. */
export interface Scrape {
  readonly exporter: SituationExporter;
  readonly atMs: number;
  readonly page: string | undefined;
}

export interface SceneTimes {
  readonly startMs: number;
  readonly endMs: number;
  readonly scrapeIntervalMs: number;
}

interface RunningExporter {
  readonly exporter: SituationExporter;
  readonly daemon: Daemon;
  stop(): Promise<void>;
}

function configOf({ accounts, entries, settings, staleAfter }: Situation): string {
  // JSON is YAML.
  return JSON.stringify({
    accounts: accounts.map(({ name }, index) => ({
      name,
      base_url: `http://127.0.0.1:${index + 1}`,
      api_key_env: 'KEY',
    })),
    poll: { stale_after: staleAfter },
    apps: [...entries, ...accounts.map(({ name }) => ({ match: '.', account: name, ...settings }))],
  });
}

async function startExporter(
  situation: Situation,
  exporter: SituationExporter,
  { clock, vendors }: { readonly clock: FakeClock; readonly vendors: readonly SituationVendor[] },
): Promise<RunningExporter> {
  const fake = createFakePlatform({
    env: { KEY: apiKey },
    files: { 'config.yaml': configOf(situation) },
    ownHostNames: [exporter.hostName],
    openTransport: async ({ baseUrl }) => {
      const vendor = vendors[Number(new URL(baseUrl).port) - 1];
      if (vendor === undefined) throw new Error(`no account listens at ${baseUrl}`);
      return inMemoryTransport(vendor.simulator);
    },
  });
  const platform = { ...fake, clock };
  const { config } = await loadConfig('config.yaml', platform);
  const { shard } = exporter;
  const daemon = await createDaemon(config, { platform, logger: createFakeLogger(), shard });
  if (shard !== undefined) daemon.metrics.sharded(shard);
  const ended = daemon.run(platform.stopSignal);
  return {
    exporter,
    daemon,
    stop: async () => {
      fake.stop();
      await clock.advance(0);
      await ended;
      await daemon.close();
    },
  };
}

async function pageOf({ store, metrics }: Daemon): Promise<string> {
  const [page, own] = await Promise.all([store.page(), metrics.text()]);
  return page.identity.toString() + own;
}

/**
 * Plays a situation with the real daemon and the real simulator, on simulated time and without a network:
 * it takes no longer on a busy machine than the work does, and always ends the same.
 */
export async function playScene(
  situation: Situation,
  { startMs, endMs, scrapeIntervalMs }: SceneTimes,
): Promise<readonly Scrape[]> {
  const clock = createFakeClock(startMs);
  const vendors = situation.accounts.map((account) => createVendor(account, { clock }));
  const running = await Promise.all(
    situation.exporters.map(async (one) => startExporter(situation, one, { clock, vendors })),
  );
  const troubleMs = endMs - situation.troubleMinutes * 60_000;
  const scrapes: Scrape[] = [];
  const down = new Set<RunningExporter>();
  while (clock.wallMs() < endMs) {
    if (clock.wallMs() === troubleMs) {
      for (const vendor of vendors) vendor.misbehave();
      for (const one of running.filter(({ exporter }) => exporter.isKilled)) {
        await one.stop();
        down.add(one);
      }
    }
    await clock.advance(scrapeIntervalMs);
    for (const one of running) {
      const page = down.has(one) ? undefined : await pageOf(one.daemon);
      scrapes.push({ exporter: one.exporter, atMs: clock.wallMs(), page });
    }
  }
  for (const one of running) if (!down.has(one)) await one.stop();
  return scrapes;
}
