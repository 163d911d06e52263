import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { AccountPlan } from '../../src/poll/account-plan.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { newQueryState, type QueryState } from '../../src/poll/query-state.ts';
import { aQuery, aSelected } from '../support/builders.ts';
import { aLog, discovery, failing, type LogBench, outcomeOf, working } from './poll-log-bench.ts';

const application = { account: 'production', app_id: '1', app_name: 'shop' };
describe('the log of applications', () => {
  const failure = outcomeOf('timeout');
  const gone = { ...working, gone: true };
  const dropped = { ...failing, droppedMs: 1 };
  const refused = { ...failing, failure: { reason: 'auth', message: '401', sinceMs: 0 } } as const;
  const details = { failed: 1, calls: 4, error: failure.error };

  it.each([
    { message: 'poll failed', level: 'warn', before: working, after: failing, details },
    { message: 'poll failed', level: 'warn', before: refused, after: failing, details },
    { message: 'poll works again', level: 'info', before: failing, after: working, isTold: true },
    { message: 'application is gone', level: 'info', before: working, after: gone },
    { message: 'application is back', level: 'info', before: gone, after: working },
    { message: 'values are back', level: 'info', before: dropped, after: failing, isTold: true },
  ])('says "$message"', ({ message, level, before, after, details: more, isTold = false }) => {
    const bench = aLog();
    if (isTold) bench.log.polled(working, failing, failure);
    const told = bench.messages().length;

    bench.log.polled(before, after, after === failing ? failure : outcomeOf(undefined));

    const fields = { ...application, ...more };
    expect(bench.logger.lines.slice(told)).toEqual([{ level, message, fields }]);
  });

  it.each([
    { what: 'a first poll that works', before: { ...working, pollSucceeded: undefined } },
    { what: 'a poll that fails as the one before', before: failing, after: failing },
    { what: 'values that are still dropped', before: dropped, after: dropped },
    { what: 'a poll that was only late', before: { ...failing, failure: undefined } },
  ])('has no line for $what', ({ before, after = working }) => {
    const bench = aLog();
    bench.log.polled(working, failing, failure);
    bench.messages();

    bench.log.polled(before, after, outcomeOf(undefined));

    expect(bench.messages()).toEqual([]);
  });

  it('does not say that what it never said to fail works again', () => {
    const bench = aLog();

    bench.log.polled(failing, working, outcomeOf(undefined));

    expect(bench.messages()).toEqual([]);
  });

  it('does not say of an application that is gone that its values are back', () => {
    const bench = aLog();
    bench.log.polled(working, dropped, failure);
    bench.messages();

    bench.log.polled(dropped, { ...gone, droppedMs: undefined }, outcomeOf(undefined));

    expect(bench.messages()).toEqual(['application is gone', 'poll works again']);
  });

  it('says whose values were dropped, why, and how old they were', () => {
    const bench = aLog();
    const state = { ...dropped, lastSuccessMs: Date.UTC(2026, 8, 1, 9) };

    bench.log.dropped([state]);

    const remedy = expect.stringContaining('status page');
    const last = { reason: 'timeout', last_success: '2026-09-01T09:00:00.000Z', remedy };
    expect(bench.logger.lines).toEqual([
      { level: 'warn', message: 'values dropped', fields: { ...application, ...last } },
    ]);
  });

  it.each([
    { why: 'the key of the account is refused', isRefused: true, see: '"discovery failed"' },
    { why: 'the key was refused until now', reason: 'auth', see: '"discovery failed"' },
    { why: 'its polls fail', isTold: true, see: '"poll failed"' },
    { why: 'New Relic asks to wait', reason: 'throttled', see: '"rate limited by New Relic"' },
    { why: 'a poll does not end', reason: 'timeout', see: 'status page' },
  ] as const)('says where to read why values were dropped: $why', (row) => {
    const bench = aLog();
    bench.refuse('isRefused' in row);
    if ('isTold' in row) bench.log.polled(working, failing, failure);

    const { reason = 'timeout' } = row;
    const failed = { reason, message: 'it failed', sinceMs: 0 } as const;
    const ofReason = { ...dropped, failure: failed };
    bench.log.dropped(['isTold' in row ? dropped : ofReason]);

    const [line] = bench.lines('values dropped');
    expect(line?.fields['remedy']).toContain(row.see);
    expect(line?.fields['reason']).toBe(reason);
  });

  it('has the first 256 characters of a name', () => {
    const bench = aLog();
    const { selected } = newAppState(aSelected({ id: '1', name: 'x'.repeat(1000) }), 0, 0);

    bench.log.polled({ ...working, selected }, { ...failing, selected }, failure);

    expect(bench.logger.lines[0]?.fields['app_name']).toBe('x'.repeat(256));
  });
});

describe('the log of discoveries', () => {
  const refused = new ApiError('auth', '401');

  it('has a line when they fail, for another reason too, and when they work', () => {
    const bench = aLog();
    const failed = new ApiError('server', '500');
    for (const error of [undefined, undefined, failed, failed, refused, undefined]) {
      bench.log.discovered(discovery(error), 0, []);
    }

    expect(bench.logger.lines).toEqual([
      {
        level: 'info',
        message: 'account discovered',
        fields: { account: 'production', listed: 1, selected: 0 },
      },
      ...[failed, refused].map((error) => ({
        level: 'error',
        message: 'discovery failed',
        fields: { account: 'production', error },
      })),
      {
        level: 'info',
        message: 'discovery works again',
        fields: { account: 'production', listed: 1, selected: 0 },
      },
    ]);
  });
});

describe('the reminder of what still fails', () => {
  /** Discovers once a minute. */
  async function pass(
    { log, clock }: LogBench,
    minutes: number,
    states: readonly AppState[],
    error?: ApiError,
  ): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      await clock.advance(minuteMs);
      log.discovered(discovery(error), states.length, []);
      log.stillFailing(states);
    }
  }

  const failingSince = (name: string, sinceMs: number, reason: FailureReason): AppState => ({
    ...failing,
    selected: aSelected({ id: name, name }),
    failure: { reason, message: '', sinceMs },
  });

  it('is one line an hour for all that has failed for an hour, the oldest first', async () => {
    const bench = aLog();
    const startMs = bench.clock.wallMs();
    const many = Array.from({ length: 10_000 }, (_, id) =>
      failingSince(`shop ${id}`, startMs + 2, 'dns'),
    );
    const recent = failingSince('recent', startMs + 20 * minuteMs, 'dns');
    const neverEnding = { ...failing, failure: undefined, lastSuccessMs: startMs + 1 };
    const states = [working, recent, ...many, neverEnding, failingSince('old', startMs, 'timeout')];

    await pass(bench, 59, states);
    const early = bench.lines('still failing');
    await pass(bench, 2, [working, ...states.slice(1, -1)]);
    const [first] = bench.lines('still failing');
    await pass(bench, 180, states);

    expect(early).toEqual([]);
    expect(first).toEqual({
      level: 'warn',
      message: 'still failing',
      fields: {
        account: 'production',
        applications: 10_001,
        since: new Date(startMs + 1).toISOString(),
        reason: undefined,
        examples: ['shop', 'shop 0', 'shop 1', 'shop 2', 'shop 3'],
      },
    });
    expect(bench.lines('still failing')).toHaveLength(4);
    expect(bench.lines('still failing')[1]?.fields).toMatchObject({
      applications: 10_003,
      reason: 'timeout',
    });
  });

  it('names at the end what has failed, however short a time', () => {
    const bench = aLog();
    const failed = failingSince('shop', bench.clock.wallMs(), 'dns');

    bench.log.stillFailing([working], 0);
    bench.log.stillFailing([working, failed], 0);

    expect(bench.lines('still failing').map(({ fields }) => fields)).toMatchObject([
      { applications: 1, reason: 'dns', examples: ['shop'] },
    ]);
  });

  it('counts applications and queries in one line', () => {
    const bench = aLog();
    const failure = { reason: 'server', message: '500', sinceMs: bench.clock.wallMs() } as const;
    const query: QueryState = { ...newQueryState(aQuery, 0, 0), pollSucceeded: false, failure };
    const app = failingSince('shop', bench.clock.wallMs(), 'dns');

    bench.log.stillFailing([query, app, app, query, query], 0);

    expect(bench.lines('still failing')).toMatchObject([
      {
        fields: {
          applications: 2,
          queries: 3,
          examples: ['calls', 'shop', 'shop', 'calls', 'calls'],
        },
      },
    ]);
  });

  it('says each hour why the discovery fails', async () => {
    const bench = aLog();
    const error = new ApiError('server', '500');

    await pass(bench, 50, [], error);
    await pass(bench, 1, []);
    await pass(bench, 61, [], error);

    expect(bench.lines('discovery failed').map(({ fields }) => fields)).toEqual(
      [1, 2, 3].map(() => ({ account: 'production', error })),
    );
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the log of entries', () => {
  it('has a line for each that begins or ceases to match nothing, and none for the others', () => {
    const bench = aLog();
    const missing = (...ids: readonly string[]) => ids.map((id) => `id=${id}`);
    const list = missing('1', '2');
    for (const entries of [list, list, missing('1', '2'), missing('2', '3')]) {
      bench.log.discovered(discovery(), 0, entries);
    }
    bench.log.discovered(discovery(new ApiError('server', '500')), 0, []);

    const lines = bench.logger.lines.filter(({ message }) => message.startsWith('entry'));
    expect(lines.map(({ message, fields }) => [message, fields['selector']])).toEqual([
      ['entry of apps matches nothing', 'id=1'],
      ['entry of apps matches nothing', 'id=2'],
      ['entry of apps matches nothing', 'id=3'],
      ['entry of apps matches again', 'id=1'],
    ]);
    expect(lines[0]?.fields['remedy']).toContain('correct the entry');
    expect(lines[3]).toMatchObject({ level: 'info', fields: { account: 'production' } });
  });
});

describe('the log of the demand', () => {
  const planWith = (stretch: number, capacityPerMinute = 90): AccountPlan => ({
    demandPerMinute: 100,
    budgetPerMinute: 90,
    capacityPerMinute,
    hosts: 1,
    stretch,
    headroom: 0,
    freePerMinute: 0,
  });

  it('says that it exceeds the budget, and that it fits again', () => {
    const bench = aLog();
    for (const stretch of [1, 1.5, 1.2, 1, 1]) bench.log.demand(planWith(stretch));

    expect(bench.messages()).toEqual([
      'demand exceeds the budget: intervals are stretched',
      'demand fits the budget again',
    ]);
  });

  it('says when the vendor is too slow, with the capacity and a remedy', () => {
    const bench = aLog();
    const slow = 'New Relic answers too slowly for the demand: intervals are stretched';
    bench.log.demand(planWith(2, 50));
    bench.log.demand(planWith(3, 40));
    bench.log.demand(planWith(1.2, 90));

    expect(bench.messages()).toEqual([slow]);
    expect(bench.lines(slow)[0]?.fields).toMatchObject({
      capacity_per_minute: 50,
      interval_factor: 2,
      remedy: 'raise concurrency, or poll less',
    });
  });
});
