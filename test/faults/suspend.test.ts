import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/accounts.ts';
import { minuteMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { sources } from './sources.ts';

describe.each(sources)('$name', (source) => {
  describe('a machine whose monotonic clock stands still while it sleeps, as on Linux', () => {
    it('asks for recent minutes as soon as it wakes', async () => {
      const platform = createFakePlatform({
        env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
        openTransport: async () => inMemoryTransport(simulator),
      });
      const { clock } = platform;
      // Its clock is the wall clock, which goes on.
      const simulator = createSimulator(
        { apiKeys: ['NRAK-TEST'], latencyMs: 100, fleet: { applications: 1, hosts: 1 } },
        { clock },
      );
      const logger = createFakeLogger();
      const daemon = await createDaemon(
        { accounts: [anAccount({ source: source.account })], apps: [anEntry()] },
        { platform, logger },
      );
      const done = daemon.run(platform.stopSignal);
      await clock.advance(20 * minuteMs);

      clock.sleep(60 * minuteMs);
      const wokeMs = clock.monotonicMs();
      await clock.advance(10 * minuteMs);
      const windowAgesMs = source
        .allWindows(simulator.journal.entries(({ monotonicMs }) => monotonicMs >= wokeMs))
        .map(({ ageMs }) => ageMs);
      platform.stop();
      await clock.advance(0);
      await done;

      expect(windowAgesMs.length).toBeGreaterThan(10);
      expect(Math.max(...windowAgesMs)).toBeLessThanOrEqual(5 * minuteMs);
      expect(Math.min(...windowAgesMs)).toBeGreaterThanOrEqual(3 * minuteMs);
      expect(logger.lines.map(({ message }) => message)).not.toContain(
        "New Relic's clock and this machine's differ",
      );
    });
  });
});
