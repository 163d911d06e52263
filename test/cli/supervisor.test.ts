import { afterEach, describe, expect, it } from 'vitest';
import { createDaemon, type Daemon } from '../../src/cli/daemon.ts';
import type { AccountConfig, AppEntry, Config } from '../../src/model/config.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine, type FakeMachine } from '../support/fake-machine.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

interface Bench {
  readonly machine: FakeMachine;
  readonly simulator: Simulator;
  readonly daemon: Daemon;
  readonly page: () => Promise<string>;
}

const running: { machine: FakeMachine; done: Promise<void> }[] = [];

afterEach(async () => {
  for (const { machine, done } of running.splice(0)) {
    machine.stop();
    await machine.clock.advance(0);
    await done;
    expect(machine.clock.pendingTimers()).toBe(0);
  }
});

const one = (overrides: Partial<AccountConfig> = {}): AccountConfig =>
  anAccount({ name: 'one', apiKey: { kind: 'env', name: 'KEY' }, ...overrides });
const byName = (name: string, account = 'one'): AppEntry =>
  anEntry({ account, selector: { kind: 'name', name } });

/** A daemon on simulated time that has run for three minutes on an account with two shops. */
async function aBench(config: Config): Promise<Bench> {
  const machine = createFakeMachine({
    env: { KEY: 'NRAK-TEST' },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const simulator = createSimulator(
    {
      apiKeys: ['NRAK-TEST'],
      latencyMs: 100,
      ingestDelayMs: 0,
      fleet: {
        traffic: 'flat',
        applications: [
          { id: 101, name: 'shop', kind: 'web', webRpm: 120, hosts: 2 },
          { id: 102, name: 'cart', kind: 'web', webRpm: 60, hosts: 2 },
        ],
      },
    },
    { clock: machine.clock },
  );
  const daemon = await createDaemon(config, { machine, logger: createFakeLogger() });
  running.push({ machine, done: daemon.run(machine.stopSignal) });
  await machine.clock.advance(180_000);
  return {
    machine,
    simulator,
    daemon,
    page: async () => (await daemon.store.page()).identity.toString(),
  };
}

const shop = 'newrelic_application_requests_per_minute{account="one",app_id="101"';
const cart = 'newrelic_application_requests_per_minute{account="one",app_id="102"';

describe('apply', () => {
  it('does not disturb an account that stays the same', async () => {
    const config = { accounts: [one()], apps: [byName('shop')] };
    const bench = await aBench(config);
    const before = bench.simulator.journal.count();

    await bench.daemon.apply(structuredClone(config));
    await bench.machine.clock.advance(100);

    expect(bench.simulator.journal.count()).toBe(before);
    expect(await bench.page()).toContain(shop);
  });

  it('drops what is no longer wanted at once, keeps what is, and fetches what is new', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop'), byName('cart')] });

    await bench.daemon.apply({ accounts: [one()], apps: [byName('cart')] });
    const atOnce = await bench.page();
    await bench.daemon.apply({ accounts: [one()], apps: [byName('cart'), byName('shop')] });
    await bench.machine.clock.advance(3000);
    const later = await bench.page();

    expect(atOnce).not.toContain('app_id="101"');
    expect(atOnce).toContain(cart);
    expect(atOnce).toContain('newrelic_up{account="one"} 1\n');
    expect(later).toContain(shop);
    expect(later).toContain(cart);
  });

  it('shows new labels on the values that are there', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop')] });
    const labelled = { ...byName('shop'), labels: { team: 'payments' } };

    await bench.daemon.apply({ accounts: [one()], apps: [labelled] });

    expect(await bench.page()).toMatch(/_requests_per_minute\{.*,team="payments"\} 120\n/u);
  });

  it.each([
    { what: 'an account that changes', next: one({ concurrency: 4, requestsPerMinute: 9 }) },
    { what: 'an account that is renamed', next: one({ name: 'two', requestsPerMinute: 9 }) },
  ])('never exceeds the budget for $what, however often it does', async ({ next }) => {
    const first = one({ requestsPerMinute: 9 });
    const bench = await aBench({ accounts: [first], apps: [byName('shop'), byName('cart')] });

    for (let round = 0; round < 10; round += 1) {
      const account = round % 2 === 0 ? next : first;
      const apps = [byName('shop', account.name), byName('cart', account.name)];
      await bench.daemon.apply({ accounts: [account], apps });
      await bench.machine.clock.advance(7000);
    }

    expect(bench.simulator.journal.maxInAnyWindow(60_000)).toBeLessThanOrEqual(9);
    expect(bench.simulator.journal.count()).toBeGreaterThan(20);
  });

  it('removes an account with everything it showed', async () => {
    const other = one({ name: 'two' });
    const bench = await aBench({
      accounts: [one(), other],
      apps: [byName('shop'), byName('cart', 'two')],
    });

    await bench.daemon.apply({ accounts: [one()], apps: [byName('shop')] });

    const everything = `${await bench.page()}${await bench.daemon.metrics.text()}`;
    expect(everything).not.toContain('account="two"');
    expect(everything).toContain(shop);
    expect(bench.daemon.status().map(({ name }) => name)).toEqual(['one']);
  });

  it('changes nothing when a new account has no key', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop')] });
    const before = await bench.page();
    const keyless = one({ name: 'two', apiKey: { kind: 'env', name: 'MISSING' } });

    const applying = bench.daemon.apply({
      accounts: [keyless],
      apps: [byName('cart', 'two')],
    });

    await expect(applying).rejects.toThrow('account two: the environment variable MISSING');
    expect(await bench.page()).toBe(before);
    await bench.machine.clock.advance(120_000);
    expect(bench.daemon.status()).toMatchObject([{ name: 'one', up: true }]);
  });
});
