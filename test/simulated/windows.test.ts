import { describe, expect, it } from 'vitest';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

const minuteMs = 60_000;

describe('a silent application', () => {
  it.each([
    { windowMinutes: 7, delayMinutes: 3, isPolled: false },
    { windowMinutes: 8, delayMinutes: 3, isPolled: true },
    { windowMinutes: 3, delayMinutes: 8, isPolled: true },
  ])(
    'is asked for as long as its window may have what it last reported, ten minutes ago: $windowMinutes m, $delayMinutes m ago',
    async ({ windowMinutes, delayMinutes, isPolled }) => {
      const poll = {
        window: { kind: 'range', lengthMs: windowMinutes * minuteMs },
        delayMs: delayMinutes * minuteMs,
      } as const;
      const config = { accounts: [accountOne()], apps: [anEntry({ account: 'one', poll })] };
      const { platform, simulator } = await aRunningDaemon(config, {
        fleet: { applications: [{ id: 101, name: 'shop', kind: 'not_reporting', hosts: 1 }] },
      });
      await platform.clock.advance(5 * minuteMs);

      const polls = simulator.journal.count(({ path }) => path.endsWith('/metrics/data.json'));
      expect(polls > 0).toBe(isPolled);
    },
  );
});

describe("a poll of New Relic's own last half hour", () => {
  it('is said to be of the earliest of the windows of its calls', async () => {
    const ends = new Set<number>();
    const poll = { window: { kind: 'vendor_default' } } as const;
    const account = accountOne({ concurrency: 1 });
    const config = { accounts: [account], apps: [anEntry({ account: 'one', poll })] };
    const { platform, page } = await aRunningDaemon(config, {
      // One call after the other, and slowly: a minute ends meanwhile.
      latencyMs: 28_000,
      fleet: { applications: [{ id: 101, name: 'shop', kind: 'web', hosts: 2 }] },
      wire: (wire) => ({
        ...wire,
        send: async (...call) => {
          const answer = await wire.send(...call);
          const [, to] = /"timeslices".*?"to":"([^"]*)"/u.exec(answer.body) ?? [];
          // New Relic writes a second less.
          if (to !== undefined) ends.add(Math.round(Date.parse(to) / minuteMs) * 60);
          return answer;
        },
      }),
    });
    const published = async (): Promise<string | undefined> =>
      /_window_end_timestamp_seconds\{.* (\d+)$/mu.exec(await page())?.[1];
    for (let step = 0; step < 60 && (await published()) === undefined; step += 1) {
      await platform.clock.advance(5000);
    }

    expect(ends.size).toBeGreaterThan(1);
    expect(Number(await published())).toBe(Math.min(...ends));
  });
});
