import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/daemon.ts';
import type { AppEntry } from '../../src/model/config.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const minuteMs = 60_000;

interface Scene {
  readonly platform: FakePlatform;
  readonly page: () => Promise<string>;
  readonly intervalSeconds: () => number;
  readonly stop: () => Promise<void>;
}

/** A daemon with one account, started, at a vendor that answers after so long. */
async function aScene(options: {
  readonly applications: number;
  readonly hosts: number;
  readonly latencyMs: number;
  readonly entry: AppEntry;
}): Promise<Scene> {
  const platform = createFakePlatform({
    env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const { applications, hosts, latencyMs, entry } = options;
  const simulator: Simulator = createSimulator(
    { apiKeys: ['NRAK-TEST'], latencyMs, fleet: { applications, hosts, kinds: ['web'] } },
    { clock: platform.clock },
  );
  const daemon = await createDaemon(
    { accounts: [anAccount()], apps: [entry] },
    { platform, logger: createFakeLogger() },
  );
  const done = daemon.run(platform.stopSignal);
  return {
    platform,
    page: async () => (await daemon.store.page()).identity.toString(),
    intervalSeconds: () => daemon.status()[0]?.pollIntervalSeconds ?? 0,
    stop: async () => {
      platform.stop();
      await platform.clock.advance(0);
      await done;
    },
  };
}

const count = (page: string, pattern: RegExp): number => [...page.matchAll(pattern)].length;

describe('at a vendor that is so slow that its answers, not the budget, are the limit', () => {
  it('shows every application, only less often, and says how often', async () => {
    const applications = 25;
    // 276 calls a minute are wanted; eight at a time, of four seconds each, are 120.
    const scene = await aScene({ applications, hosts: 250, latencyMs: 4000, entry: anEntry() });

    await scene.platform.clock.advance(20 * minuteMs);

    const page = await scene.page();
    const interval = scene.intervalSeconds();
    await scene.stop();
    const ages = [
      ...page.matchAll(/^newrelic_application_last_success_timestamp_seconds\{.*\} (\S+)$/gmu),
    ].map(([, timestamp]) => scene.platform.clock.wallMs() / 1000 - Number(timestamp));
    expect(count(page, /^newrelic_application_requests_per_minute\{/gmu)).toBe(applications);
    expect(count(page, /^newrelic_application_poll_success\{.*\} 1$/gmu)).toBe(applications);
    expect(interval).toBeGreaterThan((60 * 275) / 120);
    expect(interval).toBeLessThan((1.25 * 60 * 275) / 120);
    expect(ages).toHaveLength(applications);
    expect(Math.max(...ages)).toBeLessThan(1.3 * interval);
  });
});
