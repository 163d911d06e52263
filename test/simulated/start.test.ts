import { describe, expect, it } from 'vitest';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

describe('3 a small installation', () => {
  it.each([
    { source: { kind: 'rest', accountId: undefined } as const },
    { source: { kind: 'nerdgraph', accountId: 1_234_567 } as const },
  ])('is complete ten seconds after the start, through $source.kind', async ({ source }) => {
    const config = { accounts: [accountOne({ source })], apps: [anEntry({ account: 'one' })] };
    const { platform, page } = await aRunningDaemon(config, {
      latencyMs: 300,
      graphql: { accountId: 1_234_567 },
      fleet: { applications: 20, hosts: 100, kinds: ['web'], traffic: 'flat' },
    });
    const shown = async (): Promise<readonly string[]> =>
      (await page()).match(/^newrelic_application_(?:host_)?requests_per_minute\{\S+/gmu) ?? [];
    await platform.clock.advance(10_000);
    const atOnce = await shown();
    await platform.clock.advance(600_000);

    expect(atOnce.length).toBeGreaterThan(100);
    expect(atOnce).toEqual(await shown());
  });
});
