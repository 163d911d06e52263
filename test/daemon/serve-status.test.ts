import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { settle } from '../support/fake-clock.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { withServing } from '../support/serving.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const key = 'NRAK-A1B2C3D4E5F6G7H8';

interface Target {
  readonly labels: { readonly app_id: string };
  readonly health: string;
  readonly state: string;
  readonly reason: string | null;
  readonly lastError: string;
  readonly failingSince: string | null;
  readonly isHeld: boolean;
  readonly requestsPerMinute: Readonly<Record<string, number>>;
}

interface Account {
  readonly state: string;
  readonly stateSince: string | null;
  readonly lastError: string;
  readonly missing: readonly string[];
  readonly failingApplications: number;
  readonly pausedUntil: string | null;
  readonly key: { readonly problem: string | null; readonly readTime: string };
}

interface Data {
  readonly activeTargets: readonly Target[];
  readonly accounts: readonly Account[];
  readonly process: {
    readonly now: string;
    readonly config: { readonly problem: string | null; readonly inForceSince: string };
  };
}

interface Served {
  readonly files: Record<string, string>;
  readonly advance: (ms: number) => Promise<void>;
  /** The whole text, and what it says. */
  readonly targets: () => Promise<Data & { readonly text: string; readonly account: Account }>;
  readonly reload: () => Promise<number>;
}

const usualConfig = [
  'accounts:',
  '  - { name: shops, region: us, api_key_file: /key }',
  'apps: [{ match: "." }]',
  '',
].join('\n');

/** Serves two applications whose vendor misbehaves as the rules say; the start is all right. */
async function withStatus(
  rules: readonly FaultRule[],
  use: (served: Served) => Promise<void>,
  config = usualConfig,
): Promise<void> {
  const files: Record<string, string> = { '/key': key, '/config.yaml': config };
  const platform = createFakePlatform({
    files,
    openTransport: async () => inMemoryTransport(simulator),
  });
  const { clock } = platform;
  const simulator = createSimulator(
    {
      apiKeys: [key, `${key}NEW`],
      latencyMs: 100,
      intercept: createFaults(rules, { clock }).intercept,
      fleet: {
        applications: [
          { id: 101, name: 'shop', kind: 'web', hosts: 2 },
          { id: 102, name: 'cart', kind: 'web', hosts: 2 },
        ],
      },
    },
    { clock },
  );
  await withServing(['--web.enable-lifecycle'], platform, async ({ page }) => {
    await use({
      files,
      advance: async (ms) => {
        for (let leftMs = ms; leftMs > 0; leftMs -= minuteMs) {
          await clock.advance(Math.min(leftMs, minuteMs));
          await settle();
        }
      },
      targets: async () => {
        const { status, text } = await page('/api/v1/targets');
        expect(status).toBe(200);
        expect(text).not.toContain(key);
        const { data } = JSON.parse(text) as { readonly data: Data };
        const [account] = data.accounts;
        if (account === undefined) throw new Error('there is no account');
        return { ...data, text, account };
      },
      reload: async () => (await page('/-/reload', 'POST')).status,
    });
  });
}

const fromThirdMinute = { fromMs: 3 * minuteMs } as const;
const polls = { endpoints: ['application_metrics', 'host_metrics'], ...fromThirdMinute } as const;
const outage: Fault = { kind: 'status', status: 500 };

/** Whole minutes since a time of the status. */
function minutesSince({ process }: Data, time: string | null): number {
  return Math.round((Date.parse(process.now) - Date.parse(time ?? '')) / minuteMs);
}

describe('the status', () => {
  it('is up, and says nothing is wrong, while all is well', async () => {
    await withStatus([], async ({ advance, targets }) => {
      const starting = await targets();
      await advance(3 * minuteMs);
      const { activeTargets, account, process } = await targets();

      expect(starting).toMatchObject({ activeTargets: [], account: { state: 'starting' } });
      expect(activeTargets).toMatchObject([
        { health: 'up', state: 'up', reason: null, lastError: '', isHeld: false },
        { health: 'up', state: 'up', reason: null, lastError: '', isHeld: false },
      ]);
      expect(account).toMatchObject({ state: 'up', lastError: '', missing: [] });
      expect(process.config.problem).toBeNull();
    });
  });

  it('shows each application as failing, with the reason, within an interval of the first 500', async () => {
    await withStatus([{ when: polls, fault: outage }], async ({ advance, targets }) => {
      await advance(3 * minuteMs - secondMs);
      const before = await targets();
      await advance(75 * secondMs);
      const after = await targets();

      expect(before.activeTargets.map(({ state }) => state)).toEqual(['up', 'up']);
      expect(after.activeTargets).toMatchObject(
        ['101', '102'].map((id) => ({
          labels: { app_id: id },
          health: 'down',
          state: 'failing',
          reason: 'server',
          lastError: expect.stringContaining('500') as unknown,
          isHeld: true,
          requestsPerMinute: { web: expect.any(Number) as unknown },
        })),
      );
      expect(after.account).toMatchObject({ state: 'degraded', failingApplications: 2 });
      expect(minutesSince(after, after.account.stateSince)).toBeLessThanOrEqual(1);
    });
  });

  it('shows a refused reload with its position, and keeps the configuration that is in force', async () => {
    await withStatus([], async ({ files, advance, targets, reload }) => {
      await advance(minuteMs);
      const before = await targets();
      files['/config.yaml'] = 'apps: [{ idd: 1 }]';
      const refused = await reload();
      const after = await targets();
      files['/config.yaml'] = usualConfig;
      await advance(minuteMs);
      const accepted = await reload();
      const mended = await targets();

      expect([refused, accepted]).toEqual([500, 200]);
      expect(before.process.config.problem).toBeNull();
      expect(after.process.config.problem).toMatch(/^\/config\.yaml:1:\d+: .*idd/u);
      expect(after.process.config.inForceSince).toBe(before.process.config.inForceSince);
      expect(after.activeTargets).toHaveLength(2);
      expect(mended.process.config.problem).toBeNull();
      expect(Date.parse(mended.process.config.inForceSince)).toBeGreaterThan(
        Date.parse(before.process.config.inForceSince),
      );
    });
  });
});
