import { describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/daemon.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import type { AppEntry, Config } from '../../src/model/config.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const minuteMs = 60_000;
const apiKey = 'NRAK-TEST';

interface Bench {
  readonly simulator: Simulator;
  advance(ms: number): Promise<void>;
  apply(config: Config): Promise<void>;
  /** Does this when the vendor has answered for the last page of a list. */
  onLastPage(run: () => void): void;
  page(): Promise<string>;
  stop(): Promise<void>;
}

async function aBench(applications: number, config: Config): Promise<Bench> {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      quotaPerMinute: 1_000_000,
      latencyMs: 0,
      fleet: {
        applications: Array.from({ length: applications }, (_, index) => ({
          id: 1000 + index,
          name: index % 100 === 0 ? `chosen ${index}` : `other ${index}`,
          kind: 'web',
          hosts: 1,
        })),
      },
    },
    { clock },
  );
  const wire = inMemoryTransport(simulator);
  let atLastPage: (() => void) | undefined;
  const lastPage = Math.ceil(applications / 200);
  const platform: Platform = {
    ...createFakePlatform({ env: { NEW_RELIC_API_KEY: apiKey } }),
    clock,
    openTransport: async () => ({
      send: async (request, headers, signal) => {
        const response = await wire.send(request, headers, signal);
        if (request.target.includes(`page=${lastPage}`)) {
          atLastPage?.();
          atLastPage = undefined;
        }
        return response;
      },
      close: async () => {},
    }),
  };
  const stopper = new AbortController();
  const daemon = await createDaemon(config, { platform, logger: createFakeLogger() });
  const running = daemon.run(stopper.signal);
  return {
    simulator,
    advance: async (ms) => clock.advance(ms),
    apply: async (next) => daemon.apply(next),
    onLastPage: (run) => {
      atLastPage = run;
    },
    page: async () => (await daemon.store.page()).identity.toString(),
    stop: async () => {
      stopper.abort(new Error('the test is over'));
      await clock.advance(0);
      await running;
      await daemon.close();
    },
  };
}

function configOf(
  requestsPerMinute: number,
  poll: Partial<AppEntry['poll']>,
  entry: Partial<Omit<AppEntry, 'poll'>> = {},
): Config {
  return {
    accounts: [anAccount({ requestsPerMinute })],
    apps: [anEntry({ hosts: false, ...entry, poll })],
  };
}

function pollsIn({ simulator }: Bench, fromMs: number, toMs: number): readonly string[] {
  return simulator.journal
    .entries(({ monotonicMs }) => monotonicMs >= fromMs && monotonicMs < toMs)
    .flatMap(({ applicationId }) => applicationId ?? []);
}

async function reload(bench: Bench, config: Config): Promise<void> {
  const applied = bench.apply(config);
  await bench.advance(100);
  await applied;
}

/** How many applications the page says this of. */
function countOf(page: string, metric: string, value = '.*'): number {
  return [...page.matchAll(new RegExp(`^newrelic_application_${metric}\\{.*\\} ${value}$`, 'gmu'))]
    .length;
}

describe('a reload that makes an interval much shorter than the budget allows', () => {
  const count = 150;
  const budget = 15;
  const stretch = count / (budget - 1);
  const shortened = async (staleAfterMs: number): Promise<Bench> => {
    const hourly = { intervalMs: 60 * minuteMs, discoveryIntervalMs: 60 * minuteMs, staleAfterMs };
    const bench = await aBench(count, configOf(budget, hourly));
    await bench.advance(180 * minuteMs);
    await reload(bench, configOf(budget, { ...hourly, intervalMs: minuteMs }));
    return bench;
  };

  it('leaves the budget idle in no minute, and every application has its turn', async () => {
    const bench = await shortened(15 * minuteMs);
    const minutes = Math.ceil(1.2 * stretch);
    await bench.advance(minutes * minuteMs);
    const fromMs = 180 * minuteMs;
    const perMinute = Array.from(
      { length: minutes },
      (_, minute) =>
        pollsIn(bench, fromMs + minute * minuteMs, fromMs + (minute + 1) * minuteMs).length,
    );
    const polled = new Set(pollsIn(bench, fromMs, fromMs + minutes * minuteMs));
    await bench.stop();

    expect(Math.min(...perMinute.slice(1))).toBeGreaterThanOrEqual(0.7 * budget);
    expect(polled.size).toBe(count);
  });

  it('makes nothing stale of what only waits for its turn, also when the budget is raised', async () => {
    const staleAfterMs = 3 * minuteMs;
    const bench = await shortened(staleAfterMs);
    await bench.advance(17 * minuteMs);
    const before = await bench.page();
    const poll = { intervalMs: minuteMs, discoveryIntervalMs: 60 * minuteMs, staleAfterMs };
    await reload(bench, configOf(600, poll));
    const after = await bench.page();
    await bench.stop();

    for (const page of [before, after]) {
      expect(countOf(page, 'requests_per_minute')).toBe(count);
      expect(countOf(page, 'poll_success', '0')).toBe(0);
    }
  });
});

describe('a reload while a long list of applications is taken in', () => {
  it.each([0, 1, 2, 3, 5, 8])(
    'gives its labels to all of them: %i turns after the last page',
    async (turns) => {
      const poll = { intervalMs: minuteMs, discoveryIntervalMs: 10 * minuteMs };
      const selector = { kind: 'match', pattern: /^chosen/u } as const;
      const labelled = (team: string): Config =>
        configOf(800, poll, { selector, labels: { team } });
      const bench = await aBench(3000, labelled('old'));
      await bench.advance(9.5 * minuteMs);
      let applied: Promise<void> | undefined;
      bench.onLastPage(() => {
        let left = turns;
        const next = (): void => {
          left -= 1;
          if (left < 0) applied = bench.apply(labelled('new'));
          else setImmediate(next);
        };
        next();
      });
      await bench.advance(minuteMs);
      await applied;
      const page = await bench.page();
      await bench.stop();

      expect(applied).toBeDefined();
      expect(page.match(/^newrelic_application_info\{.*team="new"/gmu)).toHaveLength(30);
      expect(page).not.toContain('team="old"');
    },
  );
});
