import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope } from '../../src/model/poll-outcome.ts';
import type { PollerStatus } from '../../src/model/status.ts';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import { accountStatusOf } from '../../src/poll/account-status.ts';
import type { Aspect } from '../../src/poll/aspect.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import {
  anyRequest,
  aTable,
  failed,
  found,
  noError,
  pollAll,
  shop,
  signal,
  type TableBench,
} from '../support/table-bench.ts';

const minuteMs = 60_000;
const entries = [
  anEntry({ poll: { intervalMs: 2 * minuteMs, staleAfterMs: 5 * minuteMs } }),
  anEntry({ selector: { kind: 'id', id: '9' } }),
];

function statusOf({ table, clock }: TableBench, aspects: readonly Aspect[] = []): PollerStatus {
  const options = { account: anAccount(), entries };
  const parts = { startMs: 0, nextDiscoveryMs: minuteMs, aspects: () => aspects };
  return accountStatusOf(options, { table, clock, costs: restCosts, ...parts });
}

function failPoll(bench: TableBench, id: string): void {
  const error = new ApiError('server', 'HTTP 500');
  const outcome = {
    ...noError,
    reading: undefined,
    error,
    failed: new Set([applicationScope]),
    partCount: 1,
    gone: false,
    unauthorized: false,
  };
  bench.table.polled(id, anyRequest(bench, id), outcome, bench.clock.monotonicMs());
}

/** Both entries choose something. */
const all = found(shop('1'), shop('9'));

describe('the status of an account', () => {
  it('starts, with the interval of the configuration and no demand', () => {
    const bench = aTable({ entries });

    expect(statusOf(bench)).toMatchObject({
      state: 'starting',
      stateSinceMs: undefined,
      up: undefined,
      pollIntervalSeconds: 120,
      staleAfterSeconds: 300,
      demandRequestsPerMinute: undefined,
      listedApplications: undefined,
      lastDiscoveryMs: undefined,
      nextDiscoveryMs: bench.clock.wallMs() + minuteMs,
    });
  });

  it('has no demand and the configured interval after a first discovery that failed', async () => {
    const bench = aTable({ entries });
    await bench.clock.advance(minuteMs);
    await bench.table.discovered(failed(), signal);

    expect(statusOf(bench)).toMatchObject({
      state: 'down',
      stateSinceMs: bench.clock.wallMs(),
      error: 'HTTP 500',
      errorReason: 'server',
      pollIntervalSeconds: 120,
      demandRequestsPerMinute: undefined,
      lastDiscoveryMs: undefined,
    });
  });

  it('says how many applications were listed, and when', async () => {
    const bench = aTable({ entries });
    await bench.clock.advance(minuteMs);
    const discoveredMs = bench.clock.wallMs();
    await bench.table.discovered(all, signal);
    await bench.clock.advance(minuteMs);
    await bench.table.discovered(failed(shop('1')), signal);

    expect(statusOf(bench)).toMatchObject({
      listedApplications: 2,
      lastDiscoveryMs: discoveredMs,
      applications: 2,
      demandRequestsPerMinute: expect.any(Number) as unknown,
    });
  });

  it('knows since when it is up, degraded or down', async () => {
    const bench = aTable({ entries });
    const startMs = bench.clock.wallMs();
    const seen: string[] = [];
    const look = (): void => {
      const { state, stateSinceMs = startMs } = statusOf(bench);
      seen.push(`${state} ${(stateSinceMs - startMs) / minuteMs}`);
    };
    const steps: readonly (() => unknown)[] = [
      async () => bench.table.discovered(all, signal),
      () => pollAll(bench),
      () => failPoll(bench, '1'),
      () => failPoll(bench, '9'),
      () => pollAll(bench),
      async () => bench.table.discovered(found(shop('1')), signal),
      () => failPoll(bench, '1'),
      () => pollAll(bench),
      async () => bench.table.discovered(all, signal),
      async () => bench.table.discovered(failed(), signal),
      () => failPoll(bench, '1'),
      async () => bench.table.discovered(failed(), signal),
      async () => bench.table.discovered(all, signal),
      async () => bench.table.discovered(found(shop('9')), signal),
    ];
    for (const step of steps) {
      await bench.clock.advance(minuteMs);
      await step();
      look();
    }

    expect(seen).toEqual([
      'up 1',
      'up 1',
      'degraded 3',
      'degraded 3',
      'up 5',
      'degraded 6', // the entry 9 is missing
      'degraded 6',
      'degraded 6',
      'up 9',
      'down 10',
      'down 10',
      'down 10',
      'degraded 13', // it cannot have been degraded while it was down
      'up 14', // the application that failed is gone
    ]);
  });

  it.each([
    { what: 'a key that cannot be read', isWrong: true, sinceMs: 2 * minuteMs, seen: 'degraded 2' },
    { what: 'a key that is readable again', isWrong: false, sinceMs: 2 * minuteMs, seen: 'up 2' },
    { what: 'a key that was always readable', isWrong: false, sinceMs: 0, seen: 'up 1' },
    { what: 'a key that failed before', isWrong: true, sinceMs: 0, seen: 'degraded 1' },
  ])('takes $what into account', async ({ isWrong, sinceMs, seen }) => {
    const bench = aTable({ entries });
    const startMs = bench.clock.wallMs();
    await bench.clock.advance(minuteMs);
    await bench.table.discovered(all, signal);
    pollAll(bench);
    await bench.clock.advance(5 * minuteMs);

    const { state, stateSinceMs = 0 } = statusOf(bench, [{ isWrong, sinceMs }]);

    expect(`${state} ${(stateSinceMs - startMs) / minuteMs}`).toBe(seen);
  });

  it('is degraded as long as the budget stretches intervals by more than a tenth', async () => {
    let budget = 800;
    const bench = aTable({ entries, budgetPerMinute: () => budget });
    const startMs = bench.clock.wallMs();
    await bench.table.discovered(all, signal);
    pollAll(bench);
    const seen: string[] = [];
    for (const next of [1, 1, 800]) {
      await bench.clock.advance(minuteMs);
      budget = next;
      bench.table.replan();
      const { state, stateSinceMs = 0, stretch } = statusOf(bench);
      seen.push(`${state} ${(stateSinceMs - startMs) / minuteMs} ${stretch > 1.1}`);
    }

    expect(seen).toEqual(['degraded 1 true', 'degraded 1 true', 'up 3 false']);
  });
});
