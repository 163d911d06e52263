import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { aMetric, anEntry } from '../support/builders.ts';
import { type TimedBench, withTimedFaults } from './fault-bench.ts';

/** The state of the account with the faults, and since which minute; after so many minutes. */
async function stateAt(
  bench: TimedBench,
  minute: number,
): Promise<readonly [string | undefined, number]> {
  await bench.advance(minute * minuteMs - bench.clock.monotonicMs());
  const [account] = bench.daemon.status();
  const startMs = bench.clock.wallMs() - bench.clock.monotonicMs();
  const { state, stateSinceMs = Number.NaN } = account ?? {};
  return [state, (stateSinceMs - startMs) / minuteMs];
}

/** When the fault first happened. */
function firstMinuteOf({ faulty }: TimedBench, rule: FaultRule): number {
  return (faulty.faults.hits(rule)[0]?.request.monotonicMs ?? Number.NaN) / minuteMs;
}

describe('an account is degraded', () => {
  it('while its key file cannot be read, since then, and up again since it can', async () => {
    let text = 'NRAK-ONLYSECRET';
    const simulator = { apiKeys: [text] };
    await withTimedFaults({ simulator, keyFile: () => text }, async (bench) => {
      const [before] = await stateAt(bench, 3.5);
      text = '';
      const [during, sinceMinute] = await stateAt(bench, 8);
      const later = await stateAt(bench, 12);
      text = 'NRAK-ONLYSECRET';
      const [after, upMinute] = await stateAt(bench, 16);

      expect([before, during, after]).toEqual(['up', 'degraded', 'up']);
      expect(sinceMinute).toBeGreaterThan(3.5);
      expect(sinceMinute).toBeLessThan(5);
      expect(later).toEqual(['degraded', sinceMinute]);
      expect(upMinute).toBeGreaterThan(12);
    });
  });

  it('since the first 429 of the trouble, though none of its polls fails', async () => {
    const hints = [{ header: 'Retry-After', inSeconds: 1, form: 'seconds' }] as const;
    const rule: FaultRule = {
      // The call is made again a second later.
      when: { endpoints: ['application_metrics'], fromMs: 3.5 * minuteMs, calls: { every: 5 } },
      fault: { kind: 'throttled', hints },
    };
    await withTimedFaults({ script: [rule], quotaIsShared: true }, async (bench) => {
      const seen = [await stateAt(bench, 8), await stateAt(bench, 14)];

      const first = firstMinuteOf(bench, rule);
      expect(bench.faulty.faults.hits(rule).length).toBeGreaterThan(2);
      expect(bench.logs('poll failed')).toEqual([]);
      expect(seen.map(([state]) => state)).toEqual(['degraded', 'degraded']);
      for (const [, since] of seen) expect(since).toBeCloseTo(first, 1);
      const { sinceMs = 0, lastMs = 0 } = bench.daemon.status()[0]?.refusals ?? {};
      const startMs = bench.clock.wallMs() - bench.clock.monotonicMs();
      expect((sinceMs - startMs) / minuteMs).toBeCloseTo(first, 1);
      expect(lastMs - sinceMs).toBeGreaterThan(3 * minuteMs);
    });
  });

  it('since the first of several things that are wrong', async () => {
    let text = 'NRAK-ONLYSECRET';
    const simulator = { apiKeys: [text] };
    const rule: FaultRule = {
      when: { endpoints: ['application_metrics'], fromMs: 8 * minuteMs },
      fault: { kind: 'status', status: 500 },
    };
    await withTimedFaults({ simulator, script: [rule], keyFile: () => text }, async (bench) => {
      await stateAt(bench, 3);
      text = '';
      const one = await stateAt(bench, 7);
      const two = await stateAt(bench, 12);

      expect(bench.logs('poll failed').length).toBeGreaterThan(0);
      expect(one[0]).toBe('degraded');
      expect(two).toEqual(one);
    });
  });

  it('while a metric never has a value, since that was found, and up again without the metric', async () => {
    const misspelt = aMetric('Custom/Qeue', { as: 'queue_depth' });
    const entries = [{ poll: { metrics: ['throughput', misspelt] } }] as const;
    await withTimedFaults({ entries }, async (bench) => {
      const seen = [await stateAt(bench, 5), await stateAt(bench, 10)];
      const apps = bench.config.apps.map(({ account }) =>
        anEntry({ account, poll: { raw: true } }),
      );
      await bench.daemon.apply({ ...bench.config, apps });
      const [after] = await stateAt(bench, 12);

      const [[, since] = []] = seen;
      expect(since).toBeLessThan(3);
      expect(seen).toEqual([
        ['degraded', since],
        ['degraded', since],
      ]);
      expect(after).toBe('up');
    });
  });
});

describe('an application is failing', () => {
  it('since the first poll in a row that failed, whatever the reason is now', async () => {
    const failing = (status: number, fromMs: number, untilMs: number): FaultRule => ({
      when: { applicationId: '102', fromMs, untilMs },
      fault: { kind: 'status', status },
    });
    const first = failing(500, 3.5 * minuteMs, 5.5 * minuteMs);
    const script = [first, failing(400, 5.5 * minuteMs, 9 * minuteMs)];
    await withTimedFaults({ script }, async (bench) => {
      const failureAt = async (minute: number): Promise<unknown> => {
        await bench.advance(minute * minuteMs - bench.clock.monotonicMs());
        const { failure } = bench.daemon.applications().find(({ id }) => id === '102') ?? {};
        const startMs = bench.clock.wallMs() - bench.clock.monotonicMs();
        const sinceMinute = ((failure?.sinceMs ?? Number.NaN) - startMs) / minuteMs;
        return failure && [failure.reason, sinceMinute.toFixed(2)];
      };
      const seen = [await failureAt(5), await failureAt(8.5), await failureAt(12)];

      const since = firstMinuteOf(bench, first).toFixed(2);
      expect(seen).toEqual([['server', since], ['client', since], undefined]);
    });
  });
});

describe('a metric that never has a value', () => {
  it('is found in one application though another one of the entry always fails', async () => {
    const misspelt = aMetric('Custom/Qeue', { as: 'queue_depth' });
    const entries = [{ poll: { metrics: ['throughput', misspelt] } }] as const;
    const rule: FaultRule = {
      when: { applicationId: '102' },
      fault: { kind: 'status', status: 500 },
    };
    await withTimedFaults({ script: [rule], entries }, async (bench) => {
      await bench.advance(4 * minuteMs);

      expect(bench.logs('poll failed')).toMatchObject([{ app_id: '102' }]);
      expect(bench.logs('metric never has a value')).toMatchObject([{ metric: 'Custom/Qeue' }]);
    });
  });
});
