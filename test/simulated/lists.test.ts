import { describe, expect, it } from 'vitest';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

describe('2.3 lists that alone would fill the budget', () => {
  it('leave a tenth of it to polls', slow, async () => {
    const account = accountOne({ requestsPerMinute: 1 });
    const config = { accounts: [account], apps: [anEntry({ account: 'one', hosts: false })] };
    const { platform, simulator, page } = await aRunningDaemon(config);
    await platform.clock.advance(6 * 3_600_000);

    const { journal } = simulator;
    const polls = journal.count(({ path }) => path.endsWith('/metrics/data.json'));
    // The others are lists.
    expect(journal.maxInAnyWindow(60_000)).toBe(1);
    expect(1 - polls / journal.count()).toBeGreaterThanOrEqual(0.5);
    expect(await page()).toContain('newrelic_up{account="one"} 1');
    expect((await page()).match(/_poll_success\{.* 1$/gmu)).toHaveLength(2);
    expect(polls / journal.count()).toBeGreaterThanOrEqual(0.1);
  });
});

describe('2.3 4.1 lists that New Relic refuses with 429 for ever', () => {
  it('do not keep polls from going', async () => {
    const config = { accounts: [accountOne()], apps: [anEntry({ account: 'one', hosts: false })] };
    const { platform, simulator, page } = await aRunningDaemon(config, {
      intercept: ({ path, monotonicMs }, response) => {
        if (monotonicMs < 300_000 || !path.endsWith('/applications.json')) return 'pass';
        response.statusCode = 429;
        response.end('');
        return 'handled';
      },
    });
    await platform.clock.advance(60 * 60_000);

    const fromMs = 10 * 60_000;
    const { journal } = simulator;
    const refused = journal.count(
      ({ path, monotonicMs }) => monotonicMs > fromMs && path.endsWith('/applications.json'),
    );
    const polls = journal.count(
      ({ path, monotonicMs }) => monotonicMs > fromMs && path.endsWith('/metrics/data.json'),
    );
    expect(refused).toBeGreaterThan(20);
    // Two applications, each at least every three minutes.
    expect(polls).toBeGreaterThanOrEqual((2 * 50) / 3);
    expect((await page()).match(/_poll_success\{.* 1$/gmu)).toHaveLength(2);
  });
});

describe('4.3 a list that waits for the budget again and again', () => {
  it('is read whole, and has not failed', async () => {
    const account = accountOne({ requestsPerMinute: 4 });
    const config = { accounts: [account], apps: [anEntry({ account: 'one', hosts: false })] };
    const { platform, daemon, logger } = await aRunningDaemon(config, {
      pageSize: 1,
      fleet: { applications: 30, hosts: 0, kinds: ['web'] },
    });
    const isUp = (): boolean => daemon.status()[0]?.up === true;
    const sixHoursMs = 6 * 3_600_000;
    while (!isUp() && platform.clock.monotonicMs() < sixHoursMs)
      await platform.clock.advance(60_000);

    expect(logger.lines.map(({ message }) => message)).not.toContain('discovery failed');
    expect(daemon.status()).toMatchObject([{ up: true, listedApplications: 30 }]);
  });
});
