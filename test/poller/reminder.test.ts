import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { createReminder, type Reminder } from '../../src/poller/reminder.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface ReminderBench {
  readonly reminder: Reminder;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
}

function aReminder(): ReminderBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  return { reminder: createReminder('production', { logger, clock }), clock, logger };
}

function wallTime(clock: FakeClock, beforeMs: number): string {
  return new Date(clock.wallMs() - beforeMs).toISOString();
}

describe('the reminder of what still fails', () => {
  it('is one line an hour after the failure began, and one every hour while it lasts', async () => {
    const { reminder, clock, logger } = aReminder();
    reminder.failed('1', 'shop', 'timeout');

    await clock.advance(hourMs - 1);
    expect(logger.lines).toEqual([]);
    await clock.advance(1);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'still failing',
        fields: {
          account: 'production',
          applications: 1,
          since: wallTime(clock, hourMs),
          reason: 'timeout',
          examples: ['shop'],
        },
      },
    ]);
    await clock.advance(10 * hourMs);
    expect(logger.lines).toHaveLength(11);
  });

  it('is still one line for 10,000 applications, with the oldest first and its reason now', async () => {
    const { reminder, clock, logger } = aReminder();
    reminder.failed('0', 'shop 0', 'dns');
    await clock.advance(minuteMs);
    for (let minute = 0; minute < 120; minute += 1) {
      for (let id = 0; id < 10_000; id += 1) reminder.failed(`${id}`, `shop ${id}`, 'server');
      await clock.advance(minuteMs);
    }

    expect(logger.lines).toHaveLength(2);
    expect(logger.lines[0]?.fields).toEqual({
      account: 'production',
      applications: 10_000,
      since: wallTime(clock, 121 * minuteMs),
      reason: 'server',
      examples: ['shop 0', 'shop 1', 'shop 2', 'shop 3', 'shop 4'],
    });
  });

  it('comes once at fractions of a millisecond too', async () => {
    const { reminder, clock, logger } = aReminder();
    await clock.advance(1 / 3);
    reminder.failed('1', 'shop', 'timeout');
    await clock.advance(hourMs + 1);

    expect(logger.lines).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(1);
  });

  it('does not come when all is well, and leaves no timer then', async () => {
    const { reminder, clock, logger } = aReminder();
    reminder.failed('1', 'shop', 'timeout');
    reminder.discovered(new ApiError('auth', 'refused'));
    await clock.advance(30 * minuteMs);
    reminder.works('1');
    reminder.discovered(undefined);

    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(2 * hourMs);
    expect(logger.lines).toEqual([]);
  });

  it('waits until what fails now has failed for an hour', async () => {
    const { reminder, clock, logger } = aReminder();
    reminder.failed('1', 'shop', 'timeout');
    await clock.advance(50 * minuteMs);
    reminder.failed('2', 'search', 'reset');
    reminder.works('1');

    await clock.advance(hourMs - 1);
    expect(logger.lines).toEqual([]);
    await clock.advance(1);
    expect(logger.lines).toMatchObject([{ fields: { applications: 1, examples: ['search'] } }]);
  });

  it('comes no more than once an hour, however failures begin and end', async () => {
    const { reminder, clock, logger } = aReminder();
    for (let minute = 0; minute < 600; minute += 1) {
      for (const id of [1, 2, 3]) {
        if ((minute + id * 97) % 150 < 100) reminder.failed(`${id}`, `shop ${id}`, 'timeout');
        else reminder.works(`${id}`);
      }
      await clock.advance(minuteMs);
    }

    expect(logger.lines.length).toBeGreaterThan(5);
    expect(logger.lines.length).toBeLessThanOrEqual(10);
  });

  it('says since when the discovery fails, and why, alone or with applications', async () => {
    const { reminder, clock, logger } = aReminder();
    const error = new ApiError('auth', 'status 401');
    reminder.discovered(new ApiError('server', 'status 500'));
    await clock.advance(10 * minuteMs);
    reminder.discovered(error);
    await clock.advance(50 * minuteMs);
    reminder.failed('1', 'shop', 'auth');
    await clock.advance(hourMs);

    const discovery = { discovery_since: wallTime(clock, 2 * hourMs), error };
    expect(logger.lines.map(({ fields }) => fields)).toEqual([
      { account: 'production', ...discovery },
      {
        account: 'production',
        applications: 1,
        since: wallTime(clock, hourMs),
        reason: 'auth',
        examples: ['shop'],
        ...discovery,
      },
    ]);
  });

  it('forgets applications that are no longer there', async () => {
    const { reminder, clock, logger } = aReminder();
    reminder.failed('1', 'shop', 'timeout');
    reminder.keepOnly(new Set(['2']));

    await clock.advance(2 * hourMs);
    expect(logger.lines).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('leaves no timer when it is stopped', () => {
    const { reminder, clock } = aReminder();
    reminder.failed('1', 'shop', 'timeout');

    reminder.stop();

    expect(clock.pendingTimers()).toBe(0);
  });
});
