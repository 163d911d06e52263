import { describe, expect, it } from 'vitest';
import { Daemon } from '../../src/daemon/accounts.ts';
import { createStatusSource } from '../../src/daemon/serve.ts';
import type { AccountConfig, Config } from '../../src/model/config.ts';
import type { ReloadStatus, StatusSource } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import {
  accountOne,
  aRunningDaemon,
  entryByName,
  keyA,
  type RunningDaemon,
} from '../support/running-daemon.ts';

const reload: ReloadStatus = {
  configFile: '/config.yaml',
  includedFiles: [],
  brokenFiles: [],
  inForceSinceMs: 5,
  lastAttemptMs: 7,
  problem: undefined,
};

function configOf(account: Partial<AccountConfig>, ...names: string[]): Config {
  return {
    accounts: [accountOne(account)],
    apps: names.map((name) => entryByName(name)),
  };
}

async function aStatus(
  config: Config,
  wire?: (raw: RawTransport) => RawTransport,
): Promise<RunningDaemon & { readonly status: StatusSource }> {
  const bench = await aRunningDaemon(config, wire === undefined ? {} : { wire });
  const { daemon } = bench;
  const status = createStatusSource(daemon, () => reload, bench.platform);
  return { ...bench, status };
}

describe('createStatusSource', () => {
  it('knows the process, and hides what is secret in the problem of the reload', () => {
    const platform = createFakePlatform({ env: { NEWRELIC_EXPORTER_REVISION: 'abc1234' } });
    const secret = 'a-secret-of-the-proxy';
    platform.redactor.add(secret);
    const shard = { ordinal: 1, total: 3 };
    const daemon = new Daemon({ platform, logger: createFakeLogger(), shard });
    const problem = `config.yaml:3:1: http://user:${secret}@proxy`;
    const source = createStatusSource(daemon, () => ({ ...reload, problem }), platform);

    expect(source.process()).toEqual({
      nowMs: platform.clock.wallMs(),
      startedMs: platform.clock.wallMs(),
      build: expect.objectContaining({ revision: 'abc1234' }) as unknown,
      shard,
      problemsSinceMs: new Map(),
      reload: { ...reload, problem: 'config.yaml:3:1: http://[redacted]@proxy' },
    });
    expect(source.effectiveConfig()).toBeUndefined();
  });

  it('hides in reasons whatever is secret', async () => {
    const { status, platform } = await aStatus(configOf({}, 'shop'), () => ({
      send: async () => ({ status: 500, headers: {}, body: `{"error":{"title":"${keyA}-ECHO"}}` }),
      close: async () => undefined,
    }));
    platform.redactor.add(`${keyA}-ECHO`);
    await platform.clock.advance(minuteMs);

    const [account] = status.accounts();
    expect(account?.error).toContain('500');
    expect(JSON.stringify(status.accounts())).not.toContain(keyA);
  });

  it('hides in the reason of an application whatever is secret', async () => {
    const { status, platform } = await aStatus(configOf({}, 'shop'), (raw) => ({
      ...raw,
      send: async (request, headers, signal) =>
        request.operation === 'list_applications'
          ? raw.send(request, headers, signal)
          : { status: 500, headers: {}, body: `{"error":{"title":"${keyA}-ECHO"}}` },
    }));
    platform.redactor.add(`${keyA}-ECHO`);
    await platform.clock.advance(2 * minuteMs);

    const [shop] = status.applications();
    expect(shop).toMatchObject({ state: 'failing', failure: { reason: 'server' } });
    expect(shop?.failure?.message).toContain('500');
    expect(shop?.failure?.message).not.toContain(keyA);
  });

  it('writes the effective configuration once for each that is put into force', async () => {
    const bench = await aStatus(configOf({}, 'shop'));
    const first = bench.status.effectiveConfig();
    const again = bench.status.effectiveConfig();
    await bench.daemon.apply(configOf({ requestsPerMinute: 300 }, 'shop', 'cart'));
    const second = bench.status.effectiveConfig();

    expect(again).toBe(first);
    expect(first).toContain('requests_per_minute: 800');
    expect(second).toContain('requests_per_minute: 300');
    expect(second).toContain('- name: cart');
  });
});
