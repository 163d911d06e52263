import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../src/model/api-error.ts';
import type { AppState } from '../../src/poll/app-state.ts';
import { newQueryState, type QueryState } from '../../src/poll/query-state.ts';
import { aQuery } from '../support/builders.ts';
import { aLog, discovery, failing, type LogBench, outcomeOf, working } from './poll-log-bench.ts';

describe('the log of a refused key', () => {
  const ids = Array.from({ length: 12 }, (_, index) => `${index}`);
  const refusal = new ApiError('auth', '401', { status: 401 });
  const polledAs = (reason: FailureReason | undefined): AppState =>
    reason === undefined
      ? working
      : { ...failing, failure: { reason, message: 'it failed', sinceMs: 0 } };
  const pollAll = (
    { log }: LogBench,
    before: AppState,
    after: AppState,
    error?: ApiError,
  ): void => {
    for (const _ of ids) log.polled(before, after, { ...outcomeOf('auth'), error });
  };

  it('is one line for all applications when it begins, and one when it ends', () => {
    const bench = aLog();
    const [first, second] = [polledAs('auth'), polledAs('auth')];
    bench.log.discovered(discovery(), 0, []);

    pollAll(bench, working, first, refusal);
    bench.refuse(true);
    bench.log.discovered(discovery(refusal), 0, []);
    pollAll(bench, first, second, refusal);
    bench.refuse(false);
    bench.log.discovered(discovery(), 0, []);
    pollAll(bench, second, working);

    expect(bench.messages()).toEqual([
      'account discovered',
      'discovery failed',
      'discovery works again',
    ]);
    expect(bench.lines('discovery failed')[0]?.fields['problem']).toContain('no query is polled');
  });

  it('leaves the end to an application that failed before', () => {
    const bench = aLog();
    const [before, meanwhile] = [polledAs('timeout'), polledAs('auth')];
    bench.log.polled(working, before, outcomeOf('timeout'));

    bench.refuse(true);
    bench.log.polled(before, meanwhile, outcomeOf('auth'));
    bench.refuse(false);
    bench.log.polled(meanwhile, working, outcomeOf(undefined));

    expect(bench.messages()).toEqual(['poll failed', 'poll works again']);
  });

  it.each([
    { status: 403, polls: 1, what: 'an application that is forbidden, at once' },
    { status: 401, polls: 2, what: 'one that is refused again though the list is not' },
  ])('tells of $what', ({ status, polls }) => {
    const bench = aLog();
    const error = new ApiError('auth', `${status}`, { status });
    const states = [working, polledAs('auth'), polledAs('auth'), polledAs('auth')];
    bench.log.discovered(discovery(), 0, []);
    bench.messages();

    const told = states.slice(1).map((after, index) => {
      bench.log.polled(states[index] ?? working, after, { ...outcomeOf('auth'), error });
      return bench.messages().length;
    });

    expect(told.map((count) => count > 0).indexOf(true)).toBe(polls - 1);
    expect(bench.lines('poll failed')).toHaveLength(1);
  });

  it('tells of the queries of an account that asks for no list', () => {
    const bench = aLog();
    const before: QueryState = { ...newQueryState(aQuery, 0, 0), pollSucceeded: true };
    const failure = { reason: 'auth', message: '401', sinceMs: Number.MAX_SAFE_INTEGER } as const;

    bench.log.queryPolled(before, { ...before, pollSucceeded: false, failure }, refusal);

    expect(bench.messages()).toEqual(['poll failed']);
  });
});
