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
    await platform.clock.advance(10_000);

    const gauges = (await page()).match(/^newrelic_application\w*_requests_per_minute\{/gmu);
    const ofApplications = gauges?.filter((gauge) => gauge.includes('_application_requests'));
    const ofHosts = gauges?.filter((gauge) => gauge.includes('_host_requests'));
    expect(ofApplications).toHaveLength(20);
    expect(ofHosts).toHaveLength(100);
  });
});
