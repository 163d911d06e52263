import { expect } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import type { ThrottleHint } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import type { FaultSource } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const reset = 'X-RateLimit-Reset';
const legacy = 'NewRelic-OverloadProtection-Reset';
const retryAfter = 'Retry-After';

/** A 429 with these headers, and how long it keeps the account away. */
export interface Pause {
  readonly what: string;
  readonly hints: readonly ThrottleHint[];
  readonly pauseMs: number;
  readonly body?: string;
  readonly clockOffsetMs?: number;
  /** How long the 429 is on its way. */
  readonly lateMs?: number;
  /** Whether it lowers what is sent afterwards. Default: false. */
  readonly isReduced?: boolean;
}

/** A network on which a 429 takes so long to arrive. */
function slowTo429(lateMs: number): NonNullable<VendorOptions['network']> {
  return (wire, clock) => ({
    ...wire,
    send: async (request, headers, signal) => {
      const answer = await wire.send(request, headers, signal);
      if (answer.status === 429) await sleep(clock, lateMs, signal);
      return answer;
    },
  });
}

/** The first two differ in all that an API may have to do with it. What other headers mean is the matter of `pauseOf`. */
export const pauseRows: readonly Pause[] = [
  { what: 'no header and a page', hints: [], pauseMs: 60_000, body: '<html>busy</html>' },
  {
    what: `${reset}, on a clock two minutes behind`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    clockOffsetMs: -2 * minuteMs,
    isReduced: true,
  },
  {
    what: `${reset}, in an answer that arrives 20 seconds late`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    lateMs: 20_000,
    isReduced: true,
  },
  {
    what: `${retryAfter} with a date, on a clock an hour ahead`,
    hints: [{ header: retryAfter, inSeconds: 40, form: 'date' }],
    pauseMs: 40_500,
    clockOffsetMs: hourMs,
  },
  { what: `${retryAfter} of 0`, hints: [{ header: retryAfter, text: '0' }], pauseMs: 1000 },
  {
    what: `${retryAfter} of a day`,
    hints: [{ header: retryAfter, text: '86400' }],
    pauseMs: 300_000,
  },
  { what: 'the older header', hints: [{ header: legacy, inSeconds: 45 }], pauseMs: 45_500 },
];

/** One 429 in answer to a poll keeps the account away for its pause, and no other account. */
export async function expectPaused(source: FaultSource, row: Pause): Promise<void> {
  const apart = { source: source.account, entries: source.apart };
  const { hints, pauseMs, body, clockOffsetMs = 0, lateMs = 0, isReduced = false } = row;
  const rule = {
    when: {
      ...source.pollsOf('102'),
      fromMs: 2 * minuteMs,
      calls: { last: 1 },
    },
    fault: { kind: 'throttled', hints, body },
  } satisfies FaultRule;
  await withTimedFaults(
    {
      ...apart,
      script: [rule],
      clockOffsetMs,
      network: slowTo429(lateMs),
      simulator: { ingestDelayMs: 0 },
    },
    async (bench) => {
      await bench.advance(3 * minuteMs);
      const during = bench.daemon.status().find(({ name }) => name === 'production');
      const sinceMs = bench.clock.wallMs() - (during?.refusals?.lastMs ?? NaN);
      await bench.advance(9 * minuteMs);
      const page = await bench.scrape();

      const { faults, simulator } = bench.faulty;
      expect(during).toMatchObject({
        state: 'degraded',
        refusals: { calls: 1 },
        isReduced,
      });
      expect(sinceMs).toBeGreaterThanOrEqual(0);
      expect(sinceMs).toBeLessThanOrEqual(minuteMs);
      expect(bench.daemon.status().map(({ state }) => state)).toEqual(['up', 'up']);
      const hitMs = faults.hits()[0]?.request.monotonicMs ?? NaN;
      const later = simulator.journal.entries(({ monotonicMs }) => monotonicMs > hitMs + lateMs);
      const others = bench.vendors[1]?.simulator.journal.count(
        ({ monotonicMs }) => monotonicMs > hitMs && monotonicMs < hitMs + 2 * minuteMs,
      );
      expect(faults.hits()).toHaveLength(1);
      expect(Math.abs((later[0]?.monotonicMs ?? NaN) - hitMs - pauseMs)).toBeLessThanOrEqual(1);
      expect(others).toBeGreaterThan(source.calls.poll);
      expect(page.value('newrelic_exporter_api_throttled_total', { account: 'production' })).toBe(
        1,
      );
      expect(freshness(page, bench.clock)).toEqual(everyone);
    },
  );
}
