import { describe, expect, it } from 'vitest';
import type { AccountConfig, Config } from '../../src/model/config.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

type Variable = 'KEY_A' | 'KEY_B';

function account(
  name: string,
  variable: Variable,
  requestsPerMinute: number,
  overrides: Partial<AccountConfig> = {},
): AccountConfig {
  return accountOne({
    name,
    apiKey: { kind: 'env', name: variable },
    requestsPerMinute,
    ...overrides,
  });
}

/** Every account polls everything, far more than its budget allows: calls always wait. */
function busy(...accounts: readonly AccountConfig[]): Config {
  return { accounts, apps: accounts.map(({ name }) => anEntry({ account: name })) };
}

describe('an account that moves to another address', () => {
  const eu = 'https://api.eu.newrelic.com';

  it('counts as a new account: it shows nothing of the old one, and has its own budget', async () => {
    const bench = await aRunningDaemon(busy(account('a', 'KEY_A', 12)));
    await bench.platform.clock.advance(10_000);
    const usedUp = bench.simulator.journal.count();
    const before = await bench.page();

    await bench.daemon.apply(busy(account('a', 'KEY_A', 12, { baseUrl: eu })));
    const atOnce = await bench.page();
    const status = bench.daemon.status();
    await bench.platform.clock.advance(10_000);

    expect(usedUp).toBeGreaterThan(6);
    expect(before).toContain('newrelic_application_requests_per_minute{account="a"');
    expect(atOnce).not.toContain('newrelic_application_requests_per_minute');
    expect(atOnce).toContain('newrelic_up{account="a"} 0\n');
    expect(status).toMatchObject([{ name: 'a', up: undefined, applications: 0 }]);
    expect(bench.opened).toMatchObject([
      { isClosed: true, requests: usedUp },
      { isClosed: false, requests: usedUp, options: { baseUrl: eu } },
    ]);
    expect(await bench.page()).toContain('newrelic_application_requests_per_minute{account="a"');
  });

  it('keeps its counters, and has only its own series in the end', async () => {
    const bench = await aRunningDaemon(busy(account('a', 'KEY_A', 100)));
    await bench.platform.clock.advance(90_000);
    const counter = /^newrelic_exporter_polls_total\{account="a"\} (\d+)$/mu;
    const before = Number(counter.exec(await bench.daemon.metrics.text())?.[1]);

    await bench.daemon.apply(busy(account('a', 'KEY_A', 100, { baseUrl: eu })));
    await bench.platform.clock.advance(5000);
    const after = Number(counter.exec(await bench.daemon.metrics.text())?.[1]);

    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThan(before);
  });

  it('sends nothing to the new address before its old poller has ended', async () => {
    const files: Record<string, string> = { '/key': 'NRAK-A' };
    const filed = (baseUrl?: string): Config =>
      busy(
        account('a', 'KEY_A', 100, {
          apiKey: { kind: 'file', path: '/key' },
          ...(baseUrl === undefined ? {} : { baseUrl }),
        }),
      );
    const bench = await aRunningDaemon(filed(), { files });
    await bench.platform.clock.advance(30_000);
    const slow = bench.hangReading('/key');
    await bench.platform.clock.advance(60_000);

    let isApplied = false;
    const apply = async (): Promise<void> => {
      await bench.daemon.apply(filed(eu));
      isApplied = true;
    };
    const applying = apply();
    await bench.platform.clock.advance(1000);
    const meanwhile = { isApplied, requests: bench.opened[1]?.requests };
    slow.release();
    await applying;
    await bench.platform.clock.advance(1000);

    expect(meanwhile).toEqual({ isApplied: false, requests: 0 });
    expect(bench.opened[1]?.requests).toBeGreaterThan(0);
  });
});
