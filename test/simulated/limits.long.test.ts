import { describe, expect, it } from 'vitest';
import type { AccountConfig } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

interface Row {
  readonly what: string;
  readonly source: AccountConfig['source'];
  readonly applications: number;
  readonly hosts: number;
  /** Below what the account needs. */
  readonly requestsPerMinute: number;
}

const rows: readonly Row[] = [
  {
    what: 'REST',
    source: { kind: 'rest', accountId: undefined },
    applications: 20,
    hosts: 60,
    requestsPerMinute: 40,
  },
  {
    what: 'NerdGraph',
    source: { kind: 'nerdgraph', accountId: 1_234_567 },
    applications: 450,
    hosts: 900,
    requestsPerMinute: 5,
  },
];

describe('1.1 1.3 an account whose demand exceeds its limits', () => {
  it.each(rows)(
    'sends in any minute and at any moment what it may, and polls everything: $what',
    async ({ source, applications, hosts, requestsPerMinute }) => {
      const account = accountOne({ source, requestsPerMinute, concurrency: 2 });
      const entry = anEntry({ account: 'one', poll: { discoveryIntervalMs: 5 * minuteMs } });
      const { platform, simulator, daemon, page } = await aRunningDaemon(
        { accounts: [account], apps: [entry] },
        { latencyMs: [80, 4000], fleet: { applications, hosts, kinds: ['web'] } },
      );

      await platform.clock.advance(20 * minuteMs);

      const { journal } = simulator;
      const [status] = daemon.status();
      const polled = (await page()).match(/^newrelic_application_poll_success\{.*\} 1$/gmu);
      expect(status?.demandRequestsPerMinute).toBeGreaterThan(requestsPerMinute);
      expect(simulator.violations()).toBe(0);
      expect(journal.maxInAnyWindow(minuteMs)).toBe(requestsPerMinute);
      expect(journal.maxInFlight()).toBeLessThanOrEqual(2);
      expect(journal.count(({ monotonicMs }) => monotonicMs >= minuteMs)).toBeGreaterThan(
        0.9 * 19 * requestsPerMinute,
      );
      expect(polled).toHaveLength(applications);
    },
  );
});

describe('two accounts with one key, one of each API', () => {
  it('do not take anything of the budget of each other', async () => {
    const [rest, nerdgraph] = rows;
    if (rest === undefined || nerdgraph === undefined) throw new Error('two rows are missing');
    const { requestsPerMinute } = rest;
    const accounts = [
      accountOne({ name: 'rest', source: rest.source, requestsPerMinute }),
      accountOne({ name: 'nerdgraph', source: nerdgraph.source, requestsPerMinute: 5 }),
    ];
    const apps = accounts.map(({ name: account }) => anEntry({ account }));
    const { platform, simulator, daemon } = await aRunningDaemon(
      { accounts, apps },
      { fleet: { applications: 450, hosts: 900, kinds: ['web'] } },
    );

    await platform.clock.advance(10 * minuteMs);

    const { journal } = simulator;
    const isNerdGraph = ({ path }: { readonly path: string }): boolean => path === '/graphql';
    expect(daemon.status().map((status) => status.budgetRequestsPerMinute)).toEqual([40, 5]);
    expect(journal.maxInAnyWindow(minuteMs, isNerdGraph)).toBe(5);
    expect(journal.maxInAnyWindow(minuteMs, (entry) => !isNerdGraph(entry))).toBe(40);
    expect(simulator.violations()).toBe(0);
  });
});
