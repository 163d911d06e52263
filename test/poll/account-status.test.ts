import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope } from '../../src/model/poll-outcome.ts';
import type { AccountFacts } from '../../src/model/problem.ts';
import type { AccountDetails } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { AccountJudge, accountFactsOf } from '../../src/poll/account-status.ts';
import { aContext } from '../support/a-context.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import {
  anyRequest,
  aTable,
  discover,
  endPoll,
  failed,
  found,
  pollAll,
  shop,
  type TableBench,
  wholeOutcome,
} from '../support/table-bench.ts';

const entries = [
  anEntry({ poll: { intervalMs: 2 * minuteMs, staleAfterMs: 5 * minuteMs } }),
  anEntry({ selector: { kind: 'id', id: '9' } }),
];

const judges = new WeakMap<TableBench, AccountJudge>();

/** As of now, which is noted. */
function statusOf(bench: TableBench): AccountDetails {
  const { table, clock } = bench;
  const times = { startMs: 0, nextDiscoveryMs: minuteMs };
  const context = aContext({ clock, calls: bench.calls });
  const facts = (): AccountFacts =>
    accountFactsOf({ account: anAccount(), entries }, table, context, times);
  const judge = judges.get(bench) ?? new AccountJudge('production', facts, context);
  judges.set(bench, judge);
  judge.judge();
  return judge.status();
}

function failPoll(bench: TableBench, id: string): void {
  const error = new ApiError('server', 'HTTP 500');
  const outcome = { reading: undefined, error, failed: new Set([applicationScope]) };
  endPoll(bench, anyRequest(bench, id), { ...wholeOutcome(), ...outcome });
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
    await discover(bench, failed());

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
    await discover(bench, all);
    await bench.clock.advance(minuteMs);
    await discover(bench, failed(shop('1')));

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
      bench.table.look();
      const { state, stateSinceMs = startMs } = statusOf(bench);
      seen.push(`${state} ${(stateSinceMs - startMs) / minuteMs}`);
    };
    const steps: readonly (() => unknown)[] = [
      async () => discover(bench, all),
      () => pollAll(bench),
      () => failPoll(bench, '1'),
      () => failPoll(bench, '9'),
      () => pollAll(bench),
      async () => discover(bench, found(shop('1'))),
      () => failPoll(bench, '1'),
      () => pollAll(bench),
      async () => discover(bench, all),
      async () => discover(bench, failed()),
      () => failPoll(bench, '1'),
      async () => discover(bench, failed()),
      async () => discover(bench, all),
      async () => {
        await discover(bench, found(shop('9')));
        pollAll(bench);
      },
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

  it('is degraded as long as the budget stretches intervals by more than a tenth', async () => {
    const bench = aTable({ entries });
    const startMs = bench.clock.wallMs();
    await discover(bench, all);
    pollAll(bench);
    const seen: string[] = [];
    for (const requestsPerMinute of [1, 1, 800]) {
      await bench.clock.advance(minuteMs);
      bench.calls.resize({ requestsPerMinute, concurrency: 8 });
      bench.table.look();
      const { state, stateSinceMs = 0, stretch } = statusOf(bench);
      seen.push(`${state} ${(stateSinceMs - startMs) / minuteMs} ${stretch > 1.1}`);
    }

    expect(seen).toEqual(['degraded 1 true', 'degraded 1 true', 'up 3 false']);
  });
});
