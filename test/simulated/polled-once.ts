import { expect } from 'vitest';
import { createDaemon } from '../../src/daemon/accounts.ts';
import type { AccountSource, AppEntry } from '../../src/model/config.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

/** The page after one poll of everything, at the same time for each source. */
export async function pagePolledOnce(
  source: AccountSource,
  entry: AppEntry,
  applications: readonly ApplicationSpec[],
): Promise<Buffer> {
  const platform = createFakePlatform({
    env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const simulator = createSimulator(
    { apiKeys: ['NRAK-TEST'], quotaPerMinute: 100_000, fleet: { applications } },
    { clock: platform.clock },
  );
  const account = anAccount({ source, requestsPerMinute: 10_000, concurrency: 20 });
  const daemon = await createDaemon(
    { accounts: [account], apps: [entry] },
    { platform, logger: createFakeLogger() },
  );
  const done = daemon.runOnce(platform.stopSignal);
  for (let steps = 0; steps < 20; steps += 1) await platform.clock.advance(1);
  expect(await done).toBe(true);
  const { identity } = await daemon.store.page();
  await daemon.close();
  return Buffer.concat(identity);
}
