import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anEntry, aQuery } from '../support/builders.ts';
import { accountOne, aRunningDaemon, entryByName } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

describe('1.1 calls that take a while to arrive', () => {
  it('are in no 60 seconds more than the budget at New Relic either', async () => {
    let isSlow = false;
    const accounts = [accountOne({ requestsPerMinute: 8 })];
    const apps = [anEntry({ account: 'one', hosts: false })];
    const { platform, simulator } = await aRunningDaemon(
      { accounts, apps },
      {
        fleet: { applications: 30, hosts: 1, kinds: ['web'] },
        wire: (wire) => ({
          ...wire,
          send: async (request, headers, signal) => {
            if (isSlow) await sleep(platform.clock, 20_000, signal);
            return wire.send(request, headers, signal);
          },
        }),
      },
    );
    for (let minute = 0; minute < 6; minute += 1) {
      isSlow = minute % 2 === 1;
      await platform.clock.advance(minuteMs);
    }

    const { journal } = simulator;
    expect(journal.count()).toBeGreaterThan(5 * 6);
    expect(journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(8);
  });
});

describe('1.1 a budget that was spent at once', () => {
  it('comes back evenly: no more goes at once then than evenly in ten seconds', slow, async () => {
    const source = { kind: 'nerdgraph', accountId: 1_234_567 } as const;
    const accounts = [accountOne({ source, requestsPerMinute: 60, concurrency: 25 })];
    const queries = Array.from({ length: 130 }, (_, index) => ({
      ...aQuery,
      account: 'one',
      name: `calls_${index}`,
      poll: { ...aQuery.poll, intervalMs: 10 * minuteMs },
    }));
    const config = { accounts, apps: [], queries };
    const { platform, simulator } = await aRunningDaemon(config);
    const { journal } = simulator;
    await platform.clock.advance(30_000);
    const atOnce = journal.maxInAnyWindow(1000);
    journal.clear();
    await platform.clock.advance(90_000);

    expect(atOnce).toBe(60);
    expect(journal.maxInAnyWindow(1000)).toBeLessThanOrEqual(12);
    expect(journal.count()).toBeGreaterThanOrEqual(60);
  });
});

describe('a reload that takes out what waits for the budget', () => {
  it('leaves the next calls to what is there', async () => {
    const source = { kind: 'nerdgraph', accountId: 1_234_567 } as const;
    const accounts = [accountOne({ source, requestsPerMinute: 20 })];
    const poll = { ...aQuery.poll, intervalMs: 10 * minuteMs };
    const config = (...names: readonly string[]): Config => ({
      accounts,
      apps: [],
      queries: names.map((name) => ({ ...aQuery, account: 'one', name, poll })),
    });
    const many = Array.from({ length: 100 }, (_, index) => `calls_${index}`);
    const { platform, simulator, daemon } = await aRunningDaemon(config(...many));
    await platform.clock.advance(30_000);
    const before = simulator.journal.count();
    await daemon.apply(config('late'));
    await platform.clock.advance(40_000);

    // All that may go in the first minute.
    expect([before, simulator.journal.count()]).toEqual([20, 21]);
    expect(daemon.status()[0]?.queries).toMatchObject([{ name: 'late', state: 'up' }]);
  });
});

describe('1.3 accounts of one key with NerdGraph', () => {
  it('have at most 25 calls in flight together, and room goes round: none waits for ever', async () => {
    const names = ['one', 'two', 'three'];
    const accounts = names.map((name, index) =>
      accountOne({ name, source: { kind: 'nerdgraph', accountId: 1 + index }, concurrency: 25 }),
    );
    const queries = names.flatMap((account) =>
      Array.from({ length: 20 }, (_, index) => ({ ...aQuery, account, name: `calls_${index}` })),
    );
    const { platform, simulator, daemon } = await aRunningDaemon(
      { accounts, apps: [], queries },
      {
        latencyMs: 1000,
        graphql: { accountId: 1, concurrency: 100 },
        wire: (wire) => ({
          ...wire,
          // The simulator has one account.
          send: async ({ body = '', ...request }, ...rest) =>
            wire.send({ ...request, body: body.replace(/"account":\d/u, '"account":1') }, ...rest),
        }),
      },
    );
    await platform.clock.advance(10_000);

    expect(simulator.journal.maxInFlight()).toBe(25);
    for (const { queries: polled = [] } of daemon.status()) {
      expect(polled.filter(({ state }) => state === 'up')).toHaveLength(20);
    }
  });
});

describe('4.1 a 429 to one of two accounts with one key', () => {
  const names = ['one', 'two'];
  /** The digit of each is that of the account. */
  const poll = { kind: 'rest', asked: /\/10(\d)\/metrics/u } as const;
  const query = { kind: 'nerdgraph', asked: /"account":(\d)/u } as const;
  it.each([
    { what: 'keeps both away by the REST API: the limit is that of the key', ...poll, goOn: [] },
    { what: 'keeps one away by NerdGraph: each account has its limit', ...query, goOn: ['2'] },
  ])('$what', async ({ kind, asked, goOn }) => {
    const isRest = kind === 'rest';
    const config = {
      accounts: names.map((name, at) => accountOne({ name, source: { kind, accountId: 1 + at } })),
      apps: isRest ? [entryByName('shop', 'one'), entryByName('cart', 'two')] : [],
      queries: isRest ? [] : names.map((account) => ({ ...aQuery, account })),
    };
    const pauseMs = 200_000;
    const calls: { readonly account: string | undefined; readonly atMs: number }[] = [];
    let refusedMs = Infinity;
    const { platform } = await aRunningDaemon(config, {
      graphql: { accountId: 1 },
      wire: (wire) => ({
        ...wire,
        send: async ({ body = '', ...request }, ...rest) => {
          const atMs = platform.clock.monotonicMs();
          const [, account] = asked.exec(`${request.target} ${body}`) ?? [];
          if (atMs > 2 * minuteMs && refusedMs === Infinity && account === '1') {
            refusedMs = atMs;
            return { status: 429, headers: { 'retry-after': `${pauseMs / 1000}` }, body: '' };
          }
          if (atMs > refusedMs) calls.push({ account, atMs });
          // The simulator has one account.
          const known = isRest ? {} : { body: body.replace('"account":2', '"account":1') };
          return wire.send({ ...request, ...known }, ...rest);
        },
      }),
    });
    await platform.clock.advance(7 * minuteMs);

    const inPause = calls.filter(({ atMs }) => atMs < refusedMs + pauseMs);
    expect(new Set(inPause.map(({ account }) => account))).toEqual(new Set(goOn));
    expect(new Set(calls.map(({ account }) => account ?? '1'))).toEqual(new Set(['1', '2']));
  });
});

describe('accounts of one key whose demand exceeds its budget', () => {
  it('take turns: none of them gets ahead of one that has waited for longer', async () => {
    const names = ['one', 'two'];
    const fleet = names.flatMap((account) =>
      Array.from(
        { length: 20 },
        (_, index) => ({ name: `${account} ${index}`, kind: 'web', hosts: 1 }) as const,
      ),
    );
    const accounts = names.map((name) => accountOne({ name, requestsPerMinute: 10 }));
    const apps = accounts.map(({ name }) =>
      anEntry({
        account: name,
        hosts: false,
        selector: { kind: 'match', pattern: new RegExp(`^${name}`, 'u') },
        poll: { intervalMs: 600_000, discoveryIntervalMs: 3_600_000 },
      }),
    );
    const { platform, simulator } = await aRunningDaemon(
      { accounts, apps },
      { fleet: { applications: fleet } },
    );
    const callsInMinute = async (): Promise<readonly number[]> => {
      simulator.journal.clear();
      await platform.clock.advance(minuteMs);
      const asked = simulator.journal
        .entries()
        .map(({ applicationId: id }) => simulator.fleet.application(Number(id))?.name ?? '');
      return names.map((name) => asked.filter((text) => text.startsWith(name)).length);
    };
    const first = await callsInMinute();

    // What was not used may be spent at once, by who comes first.
    expect(first.toSorted((a, b) => a - b)).toEqual([0, 8]);
    expect(await callsInMinute()).toEqual([5, 5]);
    expect(await callsInMinute()).toEqual([5, 5]);
  });
});
