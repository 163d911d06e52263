import { describe, expect, it } from 'vitest';
import { Supervisor } from '../../src/daemon/supervisor.ts';
import type { AccountConfig, Config } from '../../src/model/config.ts';
import { createRateLimiters } from '../../src/rate-limit/membership.ts';
import { createSelfMetrics } from '../../src/telemetry/self-metrics.ts';
import { anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { createFakeSink } from '../support/fake-sink.ts';
import { accountOne, keyA, keyB } from '../support/running-daemon.ts';

interface Bench {
  readonly supervisor: Supervisor;
  /** The largest share of the limit of `KEY_A` that an account had which comes and goes with none. */
  readonly largestShare: () => number;
}

/** A supervisor whose accounts are not polled, with somebody beside them who watches a key. */
function aBench(): Bench {
  const platform = createFakePlatform({
    env: { KEY_A: keyA, KEY_B: keyB },
    openTransport: async () => ({
      send: async () => Promise.reject(new Error('not polled')),
      close: async () => {},
    }),
  });
  const logger = createFakeLogger();
  const limiters = createRateLimiters({ clock: platform.clock, logger });
  const nothing = {
    status: () => [],
    seriesOf: () => 0,
    droppedSeriesOf: () => 0,
    loopLagSeconds: () => 0,
  };
  const metrics = createSelfMetrics({ version: '', revision: '', nodeVersion: '' }, nothing);
  const sink = createFakeSink();
  const watcher = limiters.join(accountOne({ name: 'watcher', requestsPerMinute: 1000 }), keyA);
  let largest = 0;
  watcher.onLimitChange(() => {
    largest = Math.max(largest, watcher.limitPerMinute());
  });
  return {
    supervisor: new Supervisor({ platform, sink, metrics, logger, limiters }),
    largestShare: () => {
      const found = Math.max(largest, watcher.limitPerMinute());
      largest = 0;
      return found;
    },
  };
}

type Variable = 'KEY_A' | 'KEY_B';

function account(name: string, variable: Variable, requestsPerMinute: number): AccountConfig {
  return accountOne({ name, apiKey: { kind: 'env', name: variable }, requestsPerMinute });
}

function configOf(...accounts: readonly AccountConfig[]): Config {
  return { accounts, apps: accounts.map(({ name }) => anEntry({ account: name })) };
}

describe('the limit of a key that accounts share', () => {
  it.each<{ what: string; first: Config; second: Config }>([
    {
      what: 'the one with the smallest budget is renamed',
      first: configOf(account('a', 'KEY_A', 200), account('b', 'KEY_A', 10)),
      second: configOf(account('a', 'KEY_A', 200), account('c', 'KEY_A', 10)),
    },
    {
      what: 'both are renamed, and change places',
      first: configOf(account('a', 'KEY_A', 200), account('b', 'KEY_A', 10)),
      second: configOf(account('c', 'KEY_A', 10), account('d', 'KEY_A', 200)),
    },
    {
      what: 'they exchange their budgets',
      first: configOf(account('a', 'KEY_A', 200), account('b', 'KEY_A', 10)),
      second: configOf(account('a', 'KEY_A', 10), account('b', 'KEY_A', 200)),
    },
    {
      what: 'one gets another key, and the next one takes over its budget',
      first: configOf(
        account('a', 'KEY_A', 10),
        account('b', 'KEY_A', 200),
        account('c', 'KEY_A', 200),
      ),
      second: configOf(
        account('a', 'KEY_B', 200),
        account('b', 'KEY_A', 10),
        account('c', 'KEY_A', 200),
      ),
    },
    {
      what: 'one leaves with a smaller budget before another one comes with less than it had',
      first: configOf(
        account('a', 'KEY_A', 10),
        account('b', 'KEY_B', 200),
        account('c', 'KEY_A', 200),
      ),
      second: configOf(
        account('a', 'KEY_B', 5),
        account('b', 'KEY_A', 10),
        account('c', 'KEY_A', 200),
      ),
    },
    {
      what: 'one replaces another, listed after one with a larger budget',
      first: configOf(
        account('a', 'KEY_A', 10),
        account('b', 'KEY_B', 200),
        account('c', 'KEY_B', 10),
      ),
      second: configOf(
        account('a', 'KEY_B', 5),
        account('b', 'KEY_A', 200),
        account('c', 'KEY_A', 10),
      ),
    },
  ])('is at no moment larger than before and after a reload: $what', async ({ first, second }) => {
    const { supervisor, largestShare } = aBench();
    await supervisor.apply(first);
    largestShare();

    const largest: number[] = [];
    for (const next of [second, first, second, first]) {
      await supervisor.apply(next);
      largest.push(largestShare());
    }
    await supervisor.close();

    expect(Math.max(...largest)).toBeLessThanOrEqual(10);
    expect(largestShare()).toBeGreaterThan(0);
  });

  it('grows when the account with the smallest budget is removed', async () => {
    const { supervisor, largestShare } = aBench();
    await supervisor.apply(configOf(account('a', 'KEY_A', 200), account('b', 'KEY_A', 10)));
    largestShare();

    await supervisor.apply(configOf(account('a', 'KEY_A', 200)));

    expect(largestShare()).toBe(100);
    await supervisor.close();
  });
});
