import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon, entryByName, keyA } from '../support/running-daemon.ts';

const applications: readonly ApplicationSpec[] = Array.from({ length: 3000 }, (_, index) => ({
  id: 1000 + index,
  name: index % 100 === 0 ? `chosen ${index}` : `other ${index}`,
  kind: 'web',
  hosts: 1,
}));
const lastPage = 'page=15';

/** Polls one application of a hundred, and labels it. */
function labelled(team: string): Config {
  const entry = anEntry({
    account: 'one',
    selector: { kind: 'match', pattern: /^chosen/u },
    hosts: false,
    labels: { team },
    poll: { intervalMs: minuteMs, discoveryIntervalMs: 10 * minuteMs },
  });
  return { accounts: [accountOne()], apps: [entry] };
}

describe('a reload while a long list of applications is taken in', () => {
  it.each([0, 1, 2, 3, 5, 8])(
    'gives its labels to all of them: %i turns after the last page',
    async (turns) => {
      let applied: Promise<void> | undefined;
      let isAwaited = false;
      const { platform, daemon, page } = await aRunningDaemon(labelled('old'), {
        quotaPerMinute: 1_000_000,
        latencyMs: 0,
        fleet: { applications },
        wire: (wire) => ({
          ...wire,
          send: async (...call) => {
            const answer = await wire.send(...call);
            if (isAwaited && call[0].target.includes(lastPage)) reload();
            return answer;
          },
        }),
      });
      const reload = (): void => {
        isAwaited = false;
        let left = turns;
        const next = (): void => {
          left -= 1;
          if (left < 0) applied = daemon.apply(labelled('new'));
          else setImmediate(next);
        };
        next();
      };
      await platform.clock.advance(9.5 * minuteMs);
      isAwaited = true;
      await platform.clock.advance(minuteMs);
      await applied;
      const text = await page();

      expect(applied).toBeDefined();
      expect(text.match(/^newrelic_application_info\{.*team="new"/gmu)).toHaveLength(30);
      expect(text).not.toContain('team="old"');
    },
  );
});

describe('8.2 a reload that gives an account another address', () => {
  it('sends nothing there before the poller of the old address has ended', async () => {
    const apps = [entryByName('shop')];
    const before = accountOne({ apiKey: { kind: 'file', path: '/key' } });
    const { platform, daemon, opened, hangReading } = await aRunningDaemon(
      { accounts: [before], apps },
      { files: { '/key': keyA } },
    );
    await platform.clock.advance(1000);
    // The old poller is in the middle of a discovery: it reads its key.
    const slow = hangReading('/key');
    await platform.clock.advance(minuteMs);
    const applying = daemon.apply({
      accounts: [accountOne({ baseUrl: 'https://api.eu.newrelic.com' })],
      apps,
    });
    await platform.clock.advance(10_000);
    const [old, next] = opened;
    const sent = [old?.requests, next?.requests];
    slow.release();
    await applying;
    await platform.clock.advance(10_000);

    expect(sent).toEqual([old?.requests, 0]);
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    expect(next?.requests).toBeGreaterThan(1);
  });
});
