import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../src/model/api-error.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Discovery } from '../../src/model/source.ts';
import type { AccountPlan } from '../../src/poller/account-plan.ts';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { createPollLog, type PollLog } from '../../src/poller/poll-log.ts';
import { anApplication, anEntry, aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger, type LogLine } from '../support/fake-logger.ts';

const minuteMs = 60_000;

interface LogBench {
  readonly log: PollLog;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** Lets polls of these applications fail, or succeed without a reason. */
  poll(reason: FailureReason | undefined, ...ids: readonly string[]): void;
  /** Messages of the lines since the last call. */
  messages(): readonly string[];
  lines(message: string): readonly LogLine[];
}

function outcomeOf(reason: FailureReason | undefined): PollOutcome {
  return {
    reading: undefined,
    error: reason === undefined ? undefined : new ApiError(reason, `it failed: ${reason}`),
    failed: new Set(reason === undefined ? [] : ['application']),
    plannedCalls: 4,
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    hostNameCalls: 0,
  };
}

function aLog(): LogBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const log = createPollLog('production', { logger, clock });
  const states = new Map<string, AppState>();
  let shown = 0;
  return {
    log,
    clock,
    logger,
    poll: (reason, ...ids) => {
      for (const id of ids) {
        const before = states.get(id) ?? newAppState(aSelected({ id, name: `shop ${id}` }), 0, 0);
        const after = { ...before, pollSucceeded: reason === undefined, failedFor: reason };
        states.set(id, after);
        log.polled(before, after, outcomeOf(reason));
      }
    },
    messages: () => {
      const fresh = logger.lines.slice(shown).map(({ message }) => message);
      shown = logger.lines.length;
      return fresh;
    },
    lines: (message) => logger.lines.filter((line) => line.message === message),
  };
}

function idsUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

function discovery(error?: ApiError): Discovery {
  return {
    applications: [anApplication()],
    complete: error === undefined,
    unreadableIds: [],
    pendingIds: [],
    calls: 1,
    error,
  };
}

const failures = ['poll failed', 'poll failed', 'poll failed'];

describe('the log, when many applications fail alike', () => {
  it('has the first three in full at once, and one line for the others within a minute', async () => {
    const bench = aLog();

    bench.poll('timeout', ...idsUpTo(200));
    const atOnce = bench.messages();
    await bench.clock.advance(minuteMs);

    expect(atOnce).toEqual(failures);
    expect(bench.messages()).toEqual(['poll failed for more applications']);
    expect(bench.logger.lines.at(-1)).toEqual({
      level: 'warn',
      message: 'poll failed for more applications',
      fields: {
        account: 'production',
        reason: 'timeout',
        applications: 197,
        examples: ['shop 4', 'shop 5', 'shop 6', 'shop 7', 'shop 8'],
      },
    });
  });

  it('tells reasons apart', async () => {
    const bench = aLog();
    bench.poll('timeout', ...idsUpTo(5));
    bench.poll('server', '6', '7');
    bench.poll(undefined, '1', '2', '3', '4');

    await bench.clock.advance(minuteMs);

    expect(bench.messages()).toEqual([
      ...failures,
      'poll failed',
      'poll failed',
      'poll works again',
      'poll works again',
      'poll works again',
      'poll failed for more applications',
      'poll works again for more applications',
    ]);
  });

  it('has one line a minute as long as more of them fail, and full ones after a quiet minute', async () => {
    const bench = aLog();
    for (const [index, id] of idsUpTo(12).entries()) {
      bench.poll('dns', id);
      await bench.clock.advance(index < 11 ? 20_000 : 2 * minuteMs);
    }
    bench.messages();

    bench.poll('dns', '13');

    expect(bench.messages()).toEqual(['poll failed']);
    const counts = bench.lines('poll failed for more applications').map(({ fields }) => fields);
    expect(counts.map(({ applications }) => applications)).toEqual([3, 3, 3]);
  });

  it('writes what is only counted when it ends, and leaves no timer', () => {
    const bench = aLog();
    bench.poll('timeout', ...idsUpTo(10));
    bench.messages();

    bench.log.stop();

    expect(bench.messages()).toEqual(['poll failed for more applications']);
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

describe('the log, when an application keeps failing and recovering', () => {
  it('has four lines in ten minutes, and then one with the count and the state', async () => {
    const bench = aLog();
    for (let minute = 0; minute < 9; minute += 1) {
      bench.poll(minute % 2 === 0 ? 'server' : undefined, '1');
      await bench.clock.advance(minuteMs);
    }

    const before = bench.messages();
    await bench.clock.advance(minuteMs);

    expect(before).toEqual(['poll failed', 'poll works again', 'poll failed', 'poll works again']);
    expect(bench.messages()).toEqual(['applications keep failing and recovering']);
    expect(bench.logger.lines.at(-1)?.fields).toEqual({
      account: 'production',
      applications: 1,
      changes: 5,
      failing: 1,
      examples: ['shop 1'],
    });
  });

  it('says nothing of the kind when an outage has changed its reason and ended', async () => {
    const bench = aLog();
    bench.poll('timeout', '1');
    bench.poll('connect', '1');
    bench.poll(undefined, '1');

    await bench.clock.advance(20 * minuteMs);

    expect(bench.messages()).toEqual(['poll failed', 'poll failed', 'poll works again']);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('accounts for every change, whatever happens, in few lines', async () => {
    const step = fc.record({
      id: fc.integer({ min: 1, max: 12 }).map(String),
      reason: fc.constantFrom<(FailureReason | undefined)[]>('dns', 'timeout', undefined),
      waitMs: fc.constantFrom(0, 0, 0, 5000, 70_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 150 }), async (steps) => {
        const bench = aLog();
        const reasons = new Map<string, FailureReason | undefined>();
        let changes = 0;
        for (const { id, reason, waitMs } of steps) {
          if (reasons.has(id) ? reasons.get(id) !== reason : reason !== undefined) changes += 1;
          reasons.set(id, reason);
          bench.poll(reason, id);
          await bench.clock.advance(waitMs);
        }
        bench.log.stop();

        const inFull = ['poll failed', 'poll works again'].flatMap((message) =>
          bench.lines(message),
        );
        const counted = bench.lines('applications keep failing and recovering');
        const more = bench.logger.lines.filter(({ message }) => message.includes('more'));
        const changesOf = (lines: readonly LogLine[]): number =>
          lines.reduce(
            (sum, { fields }) => sum + Number(fields['changes'] ?? fields['applications']),
            0,
          );
        expect(inFull.length + changesOf(counted) + changesOf(more)).toBe(changes);
        expect(bench.clock.pendingTimers()).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the log of discoveries', () => {
  it('does not have a line for each of many changes', async () => {
    const bench = aLog();
    const error = new ApiError('server', 'HTTP 500');
    for (let minute = 0; minute < 30; minute += 1) {
      bench.log.discovered(discovery(minute % 2 === 1 ? error : undefined), new Map(), []);
      await bench.clock.advance(minuteMs);
    }

    const messages = bench.messages();

    expect(messages.filter((message) => message.startsWith('discovery keeps'))).toHaveLength(3);
    expect(messages).toHaveLength(3 * 5);
  });

  it('has the first ten entries that match nothing by name, and the number of the others', async () => {
    const bench = aLog();
    const missing = idsUpTo(25).map((id) => anEntry({ selector: { kind: 'id', id } }));

    bench.log.discovered(discovery(), new Map(), missing);
    await bench.clock.advance(minuteMs);

    expect(bench.lines('entry of apps matches nothing')).toHaveLength(10);
    expect(bench.lines('more entries of apps match nothing')).toMatchObject([
      {
        fields: { account: 'production', entries: 15, examples: expect.arrayContaining(['id=11']) },
      },
    ]);
  });
});

describe('the log of host names', () => {
  const failedNames = { ...outcomeOf(undefined), hostNamesError: new ApiError('not_found', '404') };
  const goodNames = { ...outcomeOf(undefined), hostNames: new Map([['11', 'a']]) };
  const stateOf = (id: string): AppState => ({
    ...newAppState(aSelected({ id }), 0, 0),
    pollSucceeded: true,
  });

  it('tells once that they fail, and that they are back when they are back for all', () => {
    const bench = aLog();
    const outcomes = [
      ['1', failedNames],
      ['2', failedNames],
      ['1', failedNames],
      ['3', goodNames],
      ['1', goodNames],
      ['2', goodNames],
    ] as const;

    for (const [id, outcome] of outcomes) bench.log.polled(stateOf(id), stateOf(id), outcome);

    expect(bench.messages()).toEqual(['host names not available', 'host names available again']);
  });

  it('does not wait for an application that is gone', () => {
    const bench = aLog();
    bench.log.polled(stateOf('1'), stateOf('1'), failedNames);
    bench.log.discovered(discovery(), new Map(), []);
    bench.messages();

    bench.log.polled(stateOf('2'), stateOf('2'), failedNames);

    expect(bench.messages()).toEqual(['host names not available']);
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
  });

  it('says at once that it exceeds the budget, and that it fits when it has done so for a while', async () => {
    const bench = aLog();
    for (const stretch of [1, 1.5, 1, 1.2, 1, 1, 1.3]) {
      bench.log.demand(planWith(stretch));
      await bench.clock.advance(4 * minuteMs);
    }
    const flapping = bench.messages();
    for (let minute = 0; minute < 15; minute += 1) {
      bench.log.demand(planWith(1));
      await bench.clock.advance(minuteMs);
    }

    expect(flapping).toEqual(['demand exceeds the budget: intervals are stretched']);
    expect(bench.messages()).toEqual(['demand fits the budget again']);
  });

  it('says when the vendor is too slow, with the capacity and a remedy, and when it is the budget after all', () => {
    const bench = aLog();
    const slow = 'the vendor answers too slowly for the demand: intervals are stretched';
    bench.log.demand(planWith(2, 50));
    bench.log.demand(planWith(3, 40));
    bench.log.demand(planWith(1.2, 90));

    expect(bench.messages()).toEqual([slow, 'demand exceeds the budget: intervals are stretched']);
    expect(bench.lines(slow)[0]?.fields).toMatchObject({
      capacity_per_minute: 50,
      interval_factor: 2,
      remedy: 'raise concurrency, or poll less',
    });
  });
});
