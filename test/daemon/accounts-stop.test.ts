import { describe, expect, it } from 'vitest';
import { CommandError } from '../../src/daemon/platform.ts';
import type { Config } from '../../src/model/config.ts';
import { anEntry } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import {
  accountOne,
  aRunningDaemon,
  entryByName,
  type RunningDaemon,
} from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

const both: Config = {
  accounts: [accountOne(), accountOne({ name: 'two', apiKey: { kind: 'env', name: 'KEY_B' } })],
  apps: [entryByName('shop'), entryByName('cart', 'two')],
};

const filed: Config = {
  accounts: [accountOne({ apiKey: { kind: 'file', path: '/key' } })],
  apps: [entryByName('shop')],
};

/** Whether the promise has settled, and how. */
function outcomeOf(promise: Promise<unknown>): () => string {
  let outcome = 'pending';
  const watch = async (): Promise<void> => {
    try {
      await promise;
      outcome = 'resolved';
    } catch (error) {
      outcome = error instanceof CommandError ? error.message : `no CommandError: ${String(error)}`;
    }
  };
  void watch();
  return () => outcome;
}

async function stop({ platform }: RunningDaemon): Promise<void> {
  platform.stop();
  await platform.clock.advance(0);
}

describe('a configuration of which one account cannot be used', () => {
  it.each([
    { what: 'no key', broken: { apiKey: { kind: 'env', name: 'MISSING' } } },
    { what: 'no CA bundle', broken: { caFile: '/missing.pem' } },
  ] as const)('leaves all the others as they are: $what', async ({ broken }) => {
    const bench = await aRunningDaemon({ accounts: [accountOne()], apps: [entryByName('shop')] });
    await bench.platform.clock.advance(90_000);
    const before = { page: await bench.page(), status: bench.daemon.status() };

    const applying = bench.daemon.apply({
      accounts: [
        accountOne({ requestsPerMinute: 3, concurrency: 2 }),
        accountOne({ name: 'joining', requestsPerMinute: 1 }),
        accountOne({ name: 'broken', ...broken }),
      ],
      apps: ['one', 'joining', 'broken'].map((account) => entryByName('cart', account)),
    });
    await expect(applying).rejects.toThrow(/^account broken: /u);

    expect(bench.opened).toMatchObject([{ isClosed: false }]);
    expect(bench.daemon.status()).toEqual(before.status);
    expect(await bench.page()).toBe(before.page);
    const calls = bench.simulator.journal.count();
    await bench.platform.clock.advance(60_000);
    expect(bench.simulator.journal.count() - calls).toBe(4);
  });

  it('closes the connections that were opened if others cannot be', async () => {
    const fault = new Error('too many open files');
    const bench = await aRunningDaemon(both, {
      opening: ({ connections }) => {
        if (connections === 2) throw fault;
      },
    });
    await bench.platform.clock.advance(90_000);
    const page = await bench.page();
    const [one, two] = both.accounts;

    const applying = bench.daemon.apply({
      ...both,
      accounts: [
        { ...one, ...accountOne({ concurrency: 4 }) },
        { ...two, ...accountOne({ name: 'two', concurrency: 2 }) },
      ],
    });

    await expect(applying).rejects.toBe(fault);
    expect(bench.opened.map(({ isClosed }) => isClosed)).toEqual([false, false, true]);
    expect(await bench.page()).toBe(page);
  });
});

describe('a stop while a reload is half done', () => {
  it('comes before the files are read: nothing is put into force', async () => {
    const bench = await aRunningDaemon(filed, { files: { '/key': 'NRAK-A', '/other': 'NRAK-B' } });
    await bench.platform.clock.advance(1000);
    const held = bench.hangReading('/other');
    const [account] = filed.accounts;
    const outcome = outcomeOf(
      bench.daemon.apply({
        accounts: [{ ...account, ...accountOne({ apiKey: { kind: 'file', path: '/other' } }) }],
        apps: filed.apps,
      }),
    );
    await settle();

    await stop(bench);
    await bench.done;
    await bench.daemon.close();
    const calls = bench.simulator.journal.count();
    held.release();
    await bench.platform.clock.advance(120_000);

    expect(outcome()).toBe('the exporter is stopping: another configuration comes too late');
    expect(bench.opened).toHaveLength(1);
    expect(bench.simulator.journal.count()).toBe(calls);
  });

  it('comes before the old pollers have ended: what was opened is closed again', async () => {
    const bench = await aRunningDaemon(filed, { files: { '/key': 'NRAK-A' } });
    await bench.platform.clock.advance(1000);
    const held = bench.hangReading('/key');
    await bench.platform.clock.advance(60_000);
    const outcome = outcomeOf(
      bench.daemon.apply({
        accounts: [accountOne({ name: 'new', apiKey: { kind: 'env', name: 'KEY_B' } })],
        apps: [entryByName('shop', 'new')],
      }),
    );
    await settle();

    await stop(bench);
    held.release();
    await bench.done;
    await bench.platform.clock.advance(120_000);

    expect(outcome()).toBe('the exporter is stopping: another configuration comes too late');
    expect(bench.opened.slice(1)).toMatchObject([{ isClosed: true, requests: 0 }]);
  });

  it(
    'comes while the applications follow: the reload ends with it, and leaves nothing',
    slow,
    async () => {
      const bench = await aRunningDaemon(
        { accounts: [accountOne()], apps: [anEntry({ account: 'one', hosts: false })] },
        { latencyMs: 10, fleet: { applications: 1000, hosts: 1, kinds: ['web'] } },
      );
      await bench.platform.clock.advance(30_000);
      const labels = { team: 'payments' };
      const outcome = outcomeOf(
        bench.daemon.apply({
          accounts: [accountOne()],
          apps: [anEntry({ account: 'one', hosts: false, labels })],
        }),
      );
      await settle();
      const halfWay = outcome();

      await stop(bench);
      await bench.done;
      await settle();

      expect(halfWay).toBe('pending');
      expect(outcome()).toBe('resolved');
      expect(bench.platform.clock.pendingTimers()).toBe(0);
    },
  );

  it('comes while a discovery that the reload dropped is ending: no other one follows', async () => {
    const bench = await aRunningDaemon(filed, { files: { '/key': 'NRAK-A' } });
    await bench.platform.clock.advance(1000);
    const held = bench.hangReading('/key');
    await bench.platform.clock.advance(60_000);
    const calls = bench.simulator.journal.count();

    await bench.daemon.apply({ ...filed, apps: [entryByName('cart')] });
    await stop(bench);
    held.release();
    await bench.done;

    expect(bench.simulator.journal.count()).toBe(calls);
  });

  it('is the last word: later configurations are refused', async () => {
    const bench = await aRunningDaemon(both);
    await bench.platform.clock.advance(1000);
    await stop(bench);
    await bench.done;

    const applying = bench.daemon.apply({ ...both, apps: [entryByName('cart')] });

    await expect(applying).rejects.toThrow('the exporter is stopping');
  });
});

describe('a fault of one account', () => {
  it('ends the run of all of them, with no timer left', async () => {
    const fault = new Error('a fault of our own');
    const bench = await aRunningDaemon(both, {
      watch: (sink) => ({
        accountUp: (account, up) => {
          if (up && account === 'two') throw fault;
          sink.accountUp(account, up);
        },
      }),
    });
    const [[ended]] = await Promise.all([
      Promise.allSettled([bench.done]),
      bench.platform.clock.advance(5000),
    ]);

    expect(ended).toEqual({ status: 'rejected', reason: fault });
    expect(bench.platform.clock.pendingTimers()).toBe(0);
  });
});

describe('a daemon that is stopped while New Relic refuses its calls', () => {
  it('waits for their end no longer: no timer is left', async () => {
    const bench = await aRunningDaemon(both, {
      wire: () => ({
        send: async () => ({ status: 429, headers: { 'retry-after': '5' }, body: '' }),
        close: async () => undefined,
      }),
    });
    await bench.platform.clock.advance(30_000);
    const told = bench.logger.lines.filter(({ message }) => message.startsWith('rate limited'));

    await stop(bench);

    expect(told).toHaveLength(2);
    expect(bench.platform.clock.pendingTimers()).toBe(0);
  });
});
