import { describe, expect, it } from 'vitest';
import { createDaemon, Daemon } from '../../src/daemon/accounts.ts';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { accountsSection } from '../../src/web/status/accounts.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { configOf, type JsonProblem, surfaces, told } from '../support/problem-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { shopAndCartFleet } from '../support/shop-and-cart.ts';
import { anAccountDetails, aStatusSource, statusNowMs } from '../support/status-source.ts';

const rest = 'accounts: [{ name: one, api_key_env: KEY_A }]\n';
const restApps = `${rest}apps: [{ match: ., discovery_interval: 60s }]`;

async function onceLogged(text: string, aheadMs = 0): Promise<readonly string[]> {
  const platform = createFakePlatform({
    env: { KEY_A: 'NRAK-A' },
    files: { '/key': 'NRAK-A' },
    openTransport: async () => {
      const wire = inMemoryTransport(simulator);
      return {
        ...wire,
        send: async (...request) => {
          const answer = await wire.send(...request);
          const ms = Date.parse(String(answer.headers['date'])) + aheadMs;
          return { ...answer, headers: { ...answer.headers, date: new Date(ms).toUTCString() } };
        },
      };
    },
  });
  const simulator = createSimulator(
    { apiKeys: ['NRAK-A'], ingestDelayMs: 0, fleet: shopAndCartFleet(1) },
    { clock: platform.clock },
  );
  const logger = createFakeLogger();
  const daemon = await createDaemon(await configOf(text), { platform, logger });
  const done = daemon.runOnce(platform.stopSignal);
  await platform.clock.advance(2 * minuteMs);
  await done;
  await daemon.close();
  return told(logger);
}

describe('once', () => {
  it('says that the clock is wrong, as it did', async () => {
    expect(await onceLogged(`${rest}apps: [{ match: . }]`, 3_600_000)).toContain(
      "New Relic's clock and this machine's differ",
    );
  });

  it('says that two accounts have one key from two places, as it did', async () => {
    expect(
      await onceLogged(
        'accounts: [{ name: one, api_key_env: KEY_A }, { name: two, api_key_file: /key }]\napps: [{ match: ., account: one }, { match: ., account: two }]',
      ),
    ).toContain('accounts with the same API key');
  });
});

describe('a list that fails in turn with 502 and with a timeout', () => {
  async function anOutage() {
    let lists = 0;
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: ({ operation }) => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          if (minutes < 3) return undefined;
          if (operation === 'list_applications') lists += 1;
          return Math.floor(minutes) % 2 === 0
            ? answered('{}', 502)
            : new ApiError('timeout', 'no answer within 30 s');
        },
      }),
    );
    await bench.platform.clock.advance(33 * minuteMs);
    return { bench, lists };
  }

  it('never works again in the log', async () => {
    const { bench } = await anOutage();
    expect(told(bench.logger).filter((one) => one === 'discovery works again')).toEqual([]);
  });

  it('says since when it has failed', async () => {
    const { bench } = await anOutage();
    const [first] = surfaces(bench).accounts[0]?.problems ?? [];
    expect(bench.platform.clock.wallMs() - Date.parse(first?.since ?? '')).toBeGreaterThan(
      20 * minuteMs,
    );
  });

  it('is reminded of every ten minutes', async () => {
    const { bench } = await anOutage();
    expect(told(bench.logger)).toContain('still: discovery failed');
  });
});

describe('a poll that fails some minutes after its account did', () => {
  it('is not reminded of half a minute after its begin', async () => {
    // The list is refused with 500, and so are polls: effects. Then the list works, and one poll does not.
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: ({ operation, target }) => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          if (minutes >= 3 && minutes < 12) return answered('{}', 500);
          return minutes >= 12 && operation.endsWith('_metrics') && target.includes('102')
            ? answered('{}', 500)
            : undefined;
        },
      }),
    );
    await bench.platform.clock.advance(3 * minuteMs);
    let begunMs: number | undefined;
    let remindedMs: number | undefined;
    for (let second = 0; second < 15 * 60; second += 1) {
      await bench.platform.clock.advance(1000);
      const lines = told(bench.logger);
      if (lines.includes('poll failed')) begunMs ??= second;
      if (lines.includes('still: poll failed')) remindedMs ??= second;
    }

    expect(begunMs).toBeDefined();
    expect((remindedMs ?? Infinity) - (begunMs ?? 0)).toBeGreaterThan(5 * 60);
  });
});

describe('a daemon that waits for its first configuration', () => {
  it('does not say that a reload still fails, which none did', async () => {
    const platform = createFakePlatform();
    const logger = createFakeLogger();
    const daemon = new Daemon({
      platform,
      logger,
      reload: () => ({
        configFile: '/c.yaml',
        includedFiles: [],
        brokenFiles: [],
        inForceSinceMs: undefined,
        lastAttemptMs: 0,
        problem: '/c.yaml: the configuration file does not exist',
      }),
    });
    const done = daemon.run(platform.stopSignal);
    await platform.clock.advance(25 * minuteMs);
    platform.stop();
    await platform.clock.advance(0);
    await done;

    expect(told(logger)).not.toContain('still: reload failed');
  });
});

describe('a vendor that asks to wait for a very long time', () => {
  it('does not end the daemon', async () => {
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: () =>
          bench.platform.clock.monotonicMs() < 3 * minuteMs
            ? undefined
            : answered('{}', 429, { 'retry-after': '99999999999999999' }),
      }),
    );
    await bench.platform.clock.advance(6 * minuteMs);
    expect(() => surfaces(bench)).not.toThrow();
    expect(surfaces(bench).headline).toMatch(/throttled/u);
  });
});

describe('many', () => {
  const failing = (count: number) =>
    Array.from({ length: count }, (_, id) => ({
      account: 'production',
      id: `${id}`,
      name: `shop ${id}`,
      state: 'failing' as const,
      failure: { reason: 'server' as const, message: 'status 500', sinceMs: statusNowMs },
      isHeld: false,
      dropMs: undefined,
      lastPollMs: statusNowMs,
    }));

  it('failing applications leave the other kinds in the JSON', () => {
    const account = anAccountDetails({
      state: 'degraded',
      failing: failing(1500),
      missingTags: ['taem'],
      leftOut: { duplicate: 7 } as never,
    });
    const source = { ...aStatusSource({}), accounts: () => [account] };
    const text = [
      ...targetsJson(source, { state: 'any', scrapePool: undefined, applicationId: undefined }),
    ].join('');
    const { data } = JSON.parse(text) as {
      data: { accounts: readonly { problems: readonly JsonProblem[] }[] };
    };

    expect(data.accounts[0]?.problems.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['application_failing', 'tag_without_value', 'series_dropped']),
    );
  });

  it('accounts that are amber do not hide the one that is red', () => {
    const amber = Array.from({ length: 50 }, (_, index) =>
      anAccountDetails({ name: `a${index}`, state: 'degraded', missingTags: ['taem'] }),
    );
    const red = anAccountDetails({ name: 'zebra', state: 'degraded', failing: failing(3) });

    expect(accountsSection([...amber, red], '', statusNowMs).toString()).toContain('zebra');
  });
});

describe('the file of a key that is gone', () => {
  it('is named once in the note, with one thing to do', async () => {
    const bench = await aRunningDaemon(
      await configOf('accounts: [{ name: one, api_key_file: /keys/one }]\napps: [{ match: . }]'),
      { files: { '/keys/one': 'NRAK-A' } },
    );
    await bench.platform.clock.advance(minuteMs);
    delete bench.files['/keys/one'];
    await bench.platform.clock.advance(2 * minuteMs);
    const [problem] = surfaces(bench).accounts[0]?.problems ?? [];

    expect(problem?.text.match(/\/keys\/one/gu)).toHaveLength(1);
  });
});
