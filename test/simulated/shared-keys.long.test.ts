import { describe, expect, it } from 'vitest';
import type { AppEntry, Config } from '../../src/model/config.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import {
  aRunningDaemon,
  keyA,
  type RunningDaemon,
  type RunningDaemonOptions,
} from '../support/running-daemon.ts';

const budget = 100;

interface Bench extends RunningDaemon {
  /** The most calls with a key in any 60 seconds. */
  readonly mostInAnyMinute: (keyIndex: number) => number;
}

async function aBench(config: Config, options: RunningDaemonOptions = {}): Promise<Bench> {
  const running = await aRunningDaemon(config, {
    quotaPerMinute: 100_000,
    fleet: { applications: 10, hosts: 80, kinds: ['web'] },
    ...options,
  });
  const { journal } = running.simulator;
  return {
    ...running,
    mostInAnyMinute: (keyIndex) =>
      journal.maxInAnyWindow(minuteMs, (entry) => entry.keyIndex === keyIndex),
  };
}

function withKey(name: string, variable: string): Config['accounts'][number] {
  return anAccount({
    name,
    apiKey: { kind: 'env', name: variable },
    requestsPerMinute: budget,
  });
}

/** Every application. */
function all(account: string): AppEntry {
  return anEntry({ account });
}

/** An application that does not exist: a call a minute or two. */
function hardlyAny(account: string): AppEntry {
  return anEntry({ account, selector: { kind: 'id', id: '1' } });
}

describe('three accounts that share a key', () => {
  it('are not told of each other without end when their demands change all the time', async () => {
    const three = ['one', 'two', 'three'];
    const { platform, simulator, daemon } = await aBench(
      {
        accounts: three.map((name) => withKey(name, 'KEY_A')),
        apps: three.map((account) => anEntry({ account, poll: { hostNames: true } })),
      },
      { fleet: { applications: 20, hosts: 60 } },
    );

    await platform.clock.advance(10 * minuteMs);

    const limits = daemon.status().map((status) => status.budgetRequestsPerMinute);
    expect(limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(budget + 1e-6);
    expect(simulator.journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(budget);
    expect(simulator.journal.count()).toBeGreaterThan(9 * budget);
  });
});

describe('1.1 an account that a reload splits in two with the same key', () => {
  async function steadyState(isSplitByReload: boolean): Promise<{
    readonly callsPerMinute: number;
    readonly mostInAnyMinute: number;
    readonly status: readonly AccountDetails[];
  }> {
    const names = Array.from({ length: 20 }, (_, at) => `${at % 2 === 0 ? 'even' : 'odd'} ${at}`);
    const half = (name: string, pattern: RegExp): AppEntry =>
      anEntry({ account: name, selector: { kind: 'match', pattern } });
    const split: Config = {
      accounts: [withKey('a', 'KEY_A'), withKey('b', 'KEY_A')],
      apps: [half('a', /^even/u), half('b', /^odd/u)],
    };
    const whole: Config = { accounts: [withKey('a', 'KEY_A')], apps: [all('a')] };
    const bench = await aBench(isSplitByReload ? whole : split, {
      fleet: { applications: names.map((name) => ({ name, kind: 'web', hosts: 8 })) },
    });
    const { platform, simulator, daemon } = bench;
    await platform.clock.advance(2 * minuteMs);
    if (isSplitByReload) await daemon.apply(split);
    await platform.clock.advance(8 * minuteMs);
    const before = simulator.journal.count();
    await platform.clock.advance(5 * minuteMs);
    return {
      callsPerMinute: (simulator.journal.count() - before) / 5,
      mostInAnyMinute: bench.mostInAnyMinute(0),
      status: daemon.status(),
    };
  }

  it('shares one budget, as after a start, and each part plans with its share', async () => {
    const started = await steadyState(false);
    const reloaded = await steadyState(true);

    expect(reloaded.mostInAnyMinute).toBeLessThanOrEqual(budget);
    expect(started.mostInAnyMinute).toBeLessThanOrEqual(budget);
    expect(reloaded.callsPerMinute).toBeGreaterThan(0.95 * started.callsPerMinute);
    for (const { status } of [started, reloaded]) {
      const planned = status.map((account) => account.budgetRequestsPerMinute);
      expect(planned.reduce((sum, share) => sum + share, 0)).toBeCloseTo(budget);
      const demands = status.map((account) => account.demandRequestsPerMinute);
      expect(demands).toEqual([91, 91]);
    }
  });
});

describe('a reload before one of two accounts with the same key has discovered anything', () => {
  it('leaves both with a share of the budget, and with polls that go on', async () => {
    const config = (generation: string): Config => ({
      accounts: [withKey('a', 'KEY_A'), withKey('b', 'KEY_A')],
      apps: [all('a'), anEntry({ account: 'b', labels: { generation } })],
    });
    let lists = 0;
    const { platform, daemon } = await aBench(config('first'), {
      fleet: { applications: 10, hosts: 200, kinds: ['web'] },
      intercept: ({ path }) => {
        if (!path.endsWith('/applications.json')) return 'pass';
        lists += 1;
        // The first discovery of the second account hangs.
        return lists === 2 ? 'handled' : 'pass';
      },
    });
    await platform.clock.advance(10_000);
    expect(daemon.status().map(({ applications }) => applications)).toEqual([10, 0]);

    await daemon.apply(config('second'));
    await platform.clock.advance(30 * minuteMs);
    const polled = async (): Promise<readonly number[]> => {
      const { identity } = await daemon.store.page();
      const line = /^newrelic_application_window_end_timestamp_seconds\{account="b".*\} (\d+)$/gmu;
      return [...Buffer.concat(identity).toString().matchAll(line)].map(([, seconds]) =>
        Number(seconds),
      );
    };
    const nowSeconds = platform.clock.wallMs() / 1000;

    expect(await polled()).not.toEqual([]);
    expect(nowSeconds - Math.min(...(await polled()))).toBeLessThan(900);
    expect(daemon.status().map((account) => account.budgetRequestsPerMinute)).toEqual([50, 50]);
  });
});

describe('the same key from a file and from a variable', () => {
  it('is one key: it is warned of once, with both names and a remedy', async () => {
    const fromFile = anAccount({
      name: 'filed',
      apiKey: { kind: 'file', path: '/keys/a' },
      requestsPerMinute: budget,
    });
    const config: Config = {
      accounts: [withKey('env', 'KEY_A'), fromFile],
      apps: [all('env'), all('filed')],
    };
    const { platform, daemon, logger, mostInAnyMinute } = await aBench(config, {
      files: { '/keys/a': keyA },
    });

    await daemon.apply({ ...config, apps: [all('env'), hardlyAny('filed')] });
    await platform.clock.advance(3 * minuteMs);

    const warnings = logger.lines.filter(({ level }) => level === 'warn');
    expect(mostInAnyMinute(0)).toBeLessThanOrEqual(budget);
    expect(
      warnings.filter(({ message }) => message === 'accounts with the same API key'),
    ).toMatchObject([{ fields: { accounts: 'env, filed' } }]);
    expect(JSON.stringify(logger.lines)).not.toContain(keyA);
  });
});
