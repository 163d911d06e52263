import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/accounts.ts';
import { createStatusSource } from '../../src/daemon/serve.ts';
import type { AccountConfig } from '../../src/model/config.ts';
import type { Redactor } from '../../src/publish/redactor.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

describe('createDaemon', () => {
  it.each<{ what: string; account: Partial<AccountConfig>; message: string }>([
    {
      what: 'an environment variable that is not set',
      account: { apiKey: { kind: 'env', name: 'MISSING' } },
      message: 'account production: the environment variable MISSING is not set',
    },
    {
      what: 'a CA file that is not there',
      account: { caFile: '/etc/ca.pem' },
      message: 'account production: the CA file /etc/ca.pem does not exist',
    },
  ])('refuses $what', async ({ account, message }) => {
    const platform = createFakePlatform({ env: { NEW_RELIC_API_KEY: 'NRAK-TEST' } });
    const config = { accounts: [anAccount(account)], apps: [anEntry()] };

    const starting = createDaemon(config, { platform, logger: createFakeLogger() });

    await expect(starting).rejects.toThrow(message);
  });

  it('reads the keys of four accounts at once, and keeps the order', async () => {
    let reading = 0;
    let most = 0;
    const names = Array.from({ length: 10 }, (_, index) => `a${index}`);
    const transport = {
      send: async () => Promise.reject(new Error('nothing is asked here')),
      close: async () => undefined,
    };
    const platform = createFakePlatform({ openTransport: async () => transport });

    const daemon = await createDaemon(
      {
        accounts: names.map((name) =>
          anAccount({ name, apiKey: { kind: 'file', path: `/keys/${name}` } }),
        ),
        apps: names.map((account) => anEntry({ account })),
      },
      {
        platform: {
          ...platform,
          readFile: async (path) => {
            reading += 1;
            most = Math.max(most, reading);
            await settle();
            reading -= 1;
            return new TextEncoder().encode(`NRAK-OF${path}`);
          },
        },
        logger: createFakeLogger(),
      },
    );

    expect(most).toBe(4);
    expect(daemon.status().map(({ name, key }) => [name, key.location])).toEqual(
      names.map((name) => [name, `file /keys/${name}`]),
    );
  });

  it('redacts the message of a failure when it is read, and no other: a page shows few of many', async () => {
    const platform = createFakePlatform({
      env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
      openTransport: async () => {
        const vendor = inMemoryTransport(simulator);
        const body = JSON.stringify({ error: { title: 'hunter2hunter2 is wrong' } });
        return {
          ...vendor,
          send: async (request, headers, signal) =>
            request.target.includes('/metrics/data.json')
              ? { status: 400, headers: {}, body }
              : vendor.send(request, headers, signal),
        };
      },
    });
    const simulator = createSimulator(
      { apiKeys: ['NRAK-TEST'], fleet: { applications: 3, hosts: 1, kinds: ['web'] } },
      { clock: platform.clock },
    );
    platform.redactor.add('hunter2hunter2');
    let redactions = 0;
    const redactor: Redactor = {
      ...platform.redactor,
      redact: (text) => {
        redactions += 1;
        return platform.redactor.redact(text);
      },
    };
    const daemon = await createDaemon(
      { accounts: [anAccount()], apps: [anEntry()] },
      { platform: { ...platform, redactor }, logger: createFakeLogger() },
    );
    const running = daemon.run(platform.stopSignal);
    await platform.clock.advance(10_000);
    platform.stop();
    await platform.clock.advance(0);
    await running;
    redactions = 0;

    const reload = {
      configFile: '',
      includedFiles: [],
      brokenFiles: [],
      inForceSinceMs: 0,
      lastAttemptMs: 0,
      problem: undefined,
    };
    const source = createStatusSource(daemon, () => reload, { ...platform, redactor });
    const [first, ...others] = source.applications();
    const unread = redactions;
    const message = first?.failure?.message;

    expect(others).toHaveLength(2);
    expect(unread).toBe(0);
    expect(message).toContain('"[redacted] is wrong"');
    expect(redactions).toBe(1);
  });

  it.each([
    { what: 'REST', source: { kind: 'rest', accountId: undefined } as const },
    { what: 'NerdGraph', source: { kind: 'nerdgraph', accountId: 1_234_567 } as const },
  ])(
    'never sends a key to another region, however often its own refuses it: $what',
    async ({ source }) => {
      let calls = 0;
      const platform = createFakePlatform({
        env: { NEW_RELIC_API_KEY: 'NRAK-TEST' },
        openTransport: async ({ baseUrl }) => {
          expect(baseUrl).toBe('https://api.newrelic.com');
          return {
            send: async () => {
              calls += 1;
              const body = '{"errors":[{"message":"not authorized for account region"}]}';
              return { status: 200, headers: {}, body };
            },
            close: async () => {},
          };
        },
      });
      const daemon = await createDaemon(
        { accounts: [anAccount({ source })], apps: [anEntry()] },
        { platform, logger: createFakeLogger() },
      );
      const running = daemon.run(platform.stopSignal);
      await platform.clock.advance(3_600_000);
      platform.stop();
      await platform.clock.advance(0);
      await running;

      expect(calls).toBeGreaterThan(50);
      expect(daemon.status()[0]?.error).toContain('The account is in another region');
    },
  );

  it('leaves out an account that no application uses', async () => {
    const platform = createFakePlatform();
    const config = { accounts: [anAccount({ name: 'unused' })], apps: [anEntry()] };

    const daemon = await createDaemon(config, { platform, logger: createFakeLogger() });

    expect(daemon.status()).toEqual([]);
  });
});
