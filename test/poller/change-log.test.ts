import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import {
  type ChangeLog,
  type ChangeLogOptions,
  createChangeLog,
  type StateChange,
  type SubjectState,
} from '../../src/poller/change-log.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger, type LogLine } from '../support/fake-logger.ts';

const minuteMs = 60_000;
const works: SubjectState = { isFailing: false };

interface LogBench {
  readonly log: ChangeLog;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** Lets polls of these applications fail, or succeed without a reason. */
  poll(reason: FailureReason | undefined, ...ids: readonly string[]): void;
  /** Messages of the lines since the last call. */
  messages(): readonly string[];
  lines(message: string): readonly LogLine[];
}

function aChange(id: string, before: SubjectState | undefined, after: SubjectState): StateChange {
  return {
    id,
    name: `shop ${id}`,
    lines: {
      level: 'warn',
      fails: ['poll failed', 'poll failed for more applications'],
      works: ['poll works again', 'poll works again for more applications'],
      remedy: 'wait',
    },
    before,
    after,
    fields: { app_id: id },
  };
}

type Bounds = Omit<ChangeLogOptions, 'account'>;

const flapMessage = 'applications keep failing and recovering';
const ofApplications: Bounds = { burst: { inFull: 3, countField: 'applications' }, flapMessage };
const ofEntries: Bounds = { burst: { inFull: 10, countField: 'entries' }, flapMessage };

function aLog(bounds: Bounds = ofApplications): LogBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const log = createChangeLog({ account: 'production', ...bounds }, { logger, clock });
  const states = new Map<string, SubjectState>();
  let shown = 0;
  return {
    log,
    clock,
    logger,
    poll: (reason, ...ids) => {
      for (const id of ids) {
        const after = { isFailing: reason !== undefined, reason };
        log.write([aChange(id, states.get(id) ?? works, after)]);
        states.set(id, after);
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

describe('the log of one subject', () => {
  const failing: SubjectState = { isFailing: true, reason: 'dns' };

  it.each([
    {
      name: 'the first news is good',
      before: undefined,
      after: works,
      message: 'poll works again',
    },
    { name: 'the first news is bad', before: undefined, after: failing, message: 'poll failed' },
    { name: 'it fails', before: works, after: failing, message: 'poll failed' },
    {
      name: 'it fails for another reason',
      before: { isFailing: true, reason: 'tls' },
      after: failing,
      message: 'poll failed',
    },
    { name: 'it works again', before: failing, after: works, message: 'poll works again' },
    { name: 'it fails as before', before: failing, after: failing, message: undefined },
    { name: 'it works as before', before: works, after: works, message: undefined },
  ])('has a line for news and none for what it knows: $name', ({ before, after, message }) => {
    const bench = aLog();

    bench.log.write([aChange('1', before, after)]);

    expect(bench.messages()).toEqual(message === undefined ? [] : [message]);
  });

  it('has the remedy last in the line of a failure, and not in the other', () => {
    const bench = aLog();

    bench.poll('dns', '1');
    bench.poll(undefined, '1');

    expect(bench.logger.lines.map(({ fields }) => Object.entries(fields))).toEqual([
      [
        ['account', 'production'],
        ['app_id', '1'],
        ['remedy', 'wait'],
      ],
      [
        ['account', 'production'],
        ['app_id', '1'],
      ],
    ]);
  });
});

describe('the log of an account as the only subject', () => {
  it('has every change in full up to the fourth in ten minutes, and then says whether it works', async () => {
    const bench = aLog({ flapMessage });
    for (const reason of ['dns', 'tls', 'dns', 'tls', undefined] as const) {
      bench.poll(reason, 'production');
    }
    const atOnce = bench.messages();

    await bench.clock.advance(10 * minuteMs);

    expect(atOnce).toEqual(Array.from({ length: 4 }, () => 'poll failed'));
    expect(bench.logger.lines.slice(4)).toEqual([
      {
        level: 'warn',
        message: 'applications keep failing and recovering',
        fields: { account: 'production', changes: 1, works: true },
      },
    ]);
  });

  it('has every change in full if it has no bound at all, and no timer', () => {
    const bench = aLog({});

    for (let round = 0; round < 10; round += 1) {
      bench.poll('dns', 'production');
      bench.poll(undefined, 'production');
    }

    expect(bench.logger.lines).toHaveLength(20);
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});

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

describe('the log, of many changes at once', () => {
  const failing: SubjectState = { isFailing: true };
  const fail = (count: number) => idsUpTo(count).map((id) => aChange(id, works, failing));
  const recover = (count: number) => idsUpTo(count).map((id) => aChange(id, failing, works));

  /** What the lines say of entries, those in full and those that are only counted. */
  function toldOf({ logger }: LogBench): readonly number[] {
    const counts = (level: string): number =>
      logger.lines
        .filter((line) => line.level === level)
        .reduce((sum, { fields }) => sum + Number(fields['entries'] ?? 1), 0);
    return [counts('warn'), counts('info')];
  }

  it('works through ten thousand entries in turns, and tells of every one', async () => {
    const bench = aLog(ofEntries);

    bench.log.write(fail(10_000));
    const atOnce = bench.logger.lines.length;
    // The timers of the burst and of the span, and that of the next turn.
    const timersAtFirst = bench.clock.pendingTimers();
    await bench.clock.advance(0);
    const timersLater = bench.clock.pendingTimers();
    await bench.clock.advance(60_000);

    expect(atOnce).toBe(10);
    expect(timersAtFirst - timersLater).toBe(1);
    expect(toldOf(bench)).toEqual([10_000, 0]);
    bench.log.stop();
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('takes a thousand of them a turn', () => {
    const bench = aLog(ofEntries);
    let taken = 0;
    function* changes(): Generator<StateChange> {
      for (const change of fail(2500)) {
        taken += 1;
        yield change;
      }
    }

    bench.log.write(changes());

    expect(taken).toBe(1000);
  });

  it('tells of all when it is stopped in between', () => {
    const bench = aLog(ofEntries);

    bench.log.write(fail(5000));
    bench.log.stop();

    expect(toldOf(bench)).toEqual([5000, 0]);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('tells of all when the next list comes in between', () => {
    const bench = aLog(ofEntries);

    bench.log.write(fail(5000));
    bench.log.write(recover(5000));
    bench.log.stop();

    expect(toldOf(bench)).toEqual([5000, 5000]);
  });
});
