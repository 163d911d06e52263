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
  /** Messages of the lines since the last call. */
  messages(): readonly string[];
  lines(message: string): readonly LogLine[];
}

function outcomeOf(reason: FailureReason | undefined): PollOutcome {
  return {
    reading: undefined,
    error: reason === undefined ? undefined : new ApiError(reason, `it failed: ${reason}`),
    failed: new Set(reason === undefined ? [] : ['application']),
    askedParts: 4,
    gone: false,
    unauthorized: false,
    hostNames: undefined,
    hostNamesError: undefined,
    extraCalls: 0,
  };
}

function aLog(): LogBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const log = createPollLog('production', { logger, clock });
  let shown = 0;
  return {
    log,
    clock,
    logger,
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

describe('the log of applications', () => {
  const known = newAppState(aSelected({ id: '1', name: 'shop' }), 0, 0);
  const application = { account: 'production', app_id: '1', app_name: 'shop' };
  const failure = outcomeOf('timeout');
  const failing = {
    ...known,
    pollSucceeded: false,
    failure: { reason: 'timeout', message: 'too slow', sinceMs: 0 },
  } as const;
  const working = { ...known, pollSucceeded: true };
  const gone = { ...working, gone: true };

  it.each([
    {
      message: 'poll failed',
      level: 'warn',
      before: working,
      after: failing,
      details: { failed: 1, calls: 4, error: failure.error },
    },
    { message: 'poll works again', level: 'info', before: failing, after: working },
    { message: 'application is gone', level: 'info', before: working, after: gone },
    { message: 'application is back', level: 'info', before: gone, after: working },
  ])('says "$message"', ({ message, level, before, after, details }) => {
    const bench = aLog();

    bench.log.polled(before, after, after === failing ? failure : outcomeOf(undefined));
    bench.log.stop();

    expect(bench.logger.lines).toEqual([
      { level, message, fields: { ...application, ...details } },
    ]);
  });

  it.each([
    { message: 'poll failed for more applications', reason: 'timeout', change: [working, failing] },
    { message: 'poll works again for more applications', change: [failing, working] },
    { message: 'more applications are gone', change: [working, gone] },
    { message: 'more applications are back', change: [gone, working] },
  ] as const)('has three in full, and then says "$message"', ({ message, change, ...reason }) => {
    const bench = aLog();
    const [before, after] = change;

    for (const id of idsUpTo(5)) {
      const { selected } = newAppState(aSelected({ id, name: `shop ${id}` }), 0, 0);
      bench.log.polled({ ...before, selected }, { ...after, selected }, failure);
    }
    bench.log.stop();

    const count = { applications: 2, examples: ['shop 4', 'shop 5'] };
    expect(bench.logger.lines).toHaveLength(4);
    expect(bench.lines(message).map(({ fields }) => fields)).toEqual([
      { account: 'production', ...reason, ...count },
    ]);
  });

  it('has the first 256 characters of a name', () => {
    const bench = aLog();
    const { selected } = newAppState(aSelected({ id: '1', name: 'x'.repeat(1000) }), 0, 0);

    bench.log.polled({ ...working, selected }, { ...failing, selected }, failure);

    expect(bench.logger.lines[0]?.fields['app_name']).toBe('x'.repeat(256));
  });

  it('counts those that keep failing and recovering', () => {
    const bench = aLog();
    for (let round = 0; round < 3; round += 1) {
      bench.log.polled(working, failing, failure);
      bench.log.polled(failing, working, outcomeOf(undefined));
    }

    bench.log.stop();

    expect(bench.lines('applications keep failing and recovering')).toMatchObject([
      { level: 'warn', fields: { applications: 1, changes: 2, failing: 0, examples: ['shop'] } },
    ]);
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

describe('the log of entries', () => {
  it('says nothing for a list that it knows, or another one with the same entries', () => {
    const bench = aLog();
    const missing = () => idsUpTo(3).map((id) => anEntry({ selector: { kind: 'id', id } }));
    const list = missing();

    bench.log.discovered(discovery(), new Map(), list);
    bench.log.discovered(discovery(), new Map(), list);
    bench.log.discovered(discovery(), new Map(), missing());

    expect(bench.lines('entry of apps matches nothing')).toHaveLength(3);
    bench.log.stop();
    expect(bench.logger.lines).toHaveLength(1 + 3);
  });

  it('goes on with a long list in later turns when the next discovery brings the same list', () => {
    const bench = aLog();
    const list = idsUpTo(2500).map((id) => anEntry({ selector: { kind: 'id', id } }));

    bench.log.discovered(discovery(), new Map(), list);
    const timers = bench.clock.pendingTimers();
    bench.log.discovered(discovery(), new Map(), list);

    expect(bench.clock.pendingTimers()).toBe(timers);
    bench.log.stop();
    expect(bench.lines('more entries of apps match nothing')).toMatchObject([
      { fields: { entries: 2490 } },
    ]);
  });

  it('tells of what matches again, and of what keeps changing', () => {
    const bench = aLog();
    const missing = [anEntry({ selector: { kind: 'id', id: '7' } })];
    for (let round = 0; round < 3; round += 1) {
      bench.log.discovered(discovery(), new Map(), missing);
      bench.log.discovered(discovery(), new Map(), []);
    }

    bench.log.stop();

    expect(bench.lines('entry of apps matches again')[0]).toEqual({
      level: 'info',
      message: 'entry of apps matches again',
      fields: { account: 'production', selector: 'id=7' },
    });
    const flapping = 'entries of apps keep losing and finding what they match';
    expect(bench.lines(flapping)).toMatchObject([{ fields: { entries: 1, changes: 2 } }]);
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
