import { describe, expect, it } from 'vitest';
import { pollingText } from '../../src/cli/once.ts';
import type { AccountStatus } from '../../src/model/telemetry.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { firstMetricOnly, printedBy } from './ask-bench.ts';

function anAccount(overrides: Partial<AccountStatus> = {}): AccountStatus {
  return {
    name: 'production',
    up: true,
    error: undefined,
    firstCycleEnded: false,
    applications: 40,
    hosts: 48,
    polledApplications: 31,
    budgetRequestsPerMinute: 800,
    demandRequestsPerMinute: 62,
    pollIntervalSeconds: 60,
    missingSelectors: [],
    missingMetrics: [],
    requestsInFlight: 0,
    backoffUntilMs: undefined,
    ...overrides,
  };
}

describe('the progress of once', () => {
  it.each([
    {
      accounts: [anAccount({ up: undefined })],
      says: 'reading the list of applications of account production',
    },
    {
      accounts: [anAccount(), anAccount({ up: undefined }), anAccount({ up: undefined })],
      says: 'reading the lists of applications of 2 accounts',
    },
    { accounts: [anAccount()], says: 'polling: 31 of 40 applications done' },
    {
      accounts: [anAccount(), anAccount({ applications: 2, polledApplications: 2 })],
      says: 'polling: 33 of 42 applications done',
    },
    {
      accounts: [anAccount({ applications: 1, polledApplications: 0 })],
      says: 'polling: 0 of 1 application done',
    },
  ])('says: $says', ({ accounts, says }) => {
    expect(pollingText(accounts)).toBe(says);
  });
});

describe('once', () => {
  it('shows all values of an account that answers for one metric at a time', async () => {
    const config = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }]
poll: { metrics: [throughput, errors, apdex] }
apps: [{ match: "." }]`;
    const pageWith = async (rules: readonly FaultRule[]): Promise<readonly string[]> => {
      const { stdout } = await printedBy(
        { fleet: { applications: 6, hosts: 12, kinds: ['both'] } },
        ['once', '--config.file=c.yaml'],
        { 'c.yaml': config },
        undefined,
        rules,
      );
      return [...stdout.matchAll(/^newrelic_application_[^ ]*apdex_ratio\S*|^.*_errors_per_\S*/gmu)]
        .map(([line]) => line)
        .toSorted();
    };

    const whole = await pageWith([]);

    expect(whole.length).toBeGreaterThan(2 * (6 + 12));
    expect(await pageWith([firstMetricOnly])).toEqual(whole);
  });
});
