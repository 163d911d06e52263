import { describe, expect, it } from 'vitest';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { createChangeLog } from '../../src/poller/change-log.ts';
import { boundsOfValues, createValuesLog, type ValuesLog } from '../../src/poller/values-log.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

const minuteMs = 60_000;

interface ValuesBench {
  readonly values: ValuesLog;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
}

function aLog(): ValuesBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const log = createChangeLog({ account: 'production', ...boundsOfValues }, { logger, clock });
  return { values: createValuesLog(log), clock, logger };
}

function droppedState(id = '1'): AppState {
  return {
    ...newAppState(aSelected({ id, name: `shop ${id}` }), 0, 0),
    pollSucceeded: false,
    failure: { reason: 'timeout', message: 'too slow', sinceMs: 0 },
    lastSuccessMs: Date.UTC(2026, 8, 1, 9),
  };
}

function renewedState(id = '1'): AppState {
  const reading = { windowEndMs: 1, series: [], application: [], hosts: new Map() };
  return { ...droppedState(id), pollSucceeded: true, failure: undefined, reading };
}

const application = { account: 'production', app_id: '1', app_name: 'shop 1' };

describe('the log of values', () => {
  it('says whose values were dropped, why, how old they were, and that they are back', () => {
    const { values, logger } = aLog();

    values.dropped([droppedState()]);
    values.polled(droppedState());
    values.polled(renewedState());
    values.polled(renewedState());

    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'values dropped',
        fields: {
          ...application,
          reason: 'timeout',
          last_success: '2026-09-01T09:00:00.000Z',
          remedy: expect.stringContaining('stale_after'),
        },
      },
      { level: 'info', message: 'values are back', fields: application },
    ]);
  });

  it('has a few lines for 10,000 applications, which count all of them', async () => {
    const { values, clock, logger } = aLog();
    const ids = Array.from({ length: 10_000 }, (_, index) => `${index}`);

    values.dropped(ids.map(droppedState));
    await clock.advance(2 * minuteMs);
    for (const id of ids) values.polled(renewedState(id));
    await clock.advance(2 * minuteMs);

    expect(logger.lines.map(({ message, fields }) => [message, fields['applications']])).toEqual([
      ...Array.from({ length: 3 }, () => ['values dropped', undefined]),
      ['values dropped for more applications', 9997],
      ...Array.from({ length: 3 }, () => ['values are back', undefined]),
      ['values are back for more applications', 9997],
    ]);
  });

  it('does not say of an application that is gone, or no longer listed, that its values are back', () => {
    const { values, logger } = aLog();

    values.dropped([droppedState('1'), droppedState('2')]);
    values.polled({ ...droppedState('1'), gone: true });
    values.keepOnly(new Set(['1']));
    for (const id of ['1', '2']) values.polled(renewedState(id));

    expect(logger.lines.map(({ message }) => message)).toEqual([
      'values dropped',
      'values dropped',
    ]);
  });

  it('counts the changes of applications that keep losing their values', () => {
    const { values, logger } = aLog();
    for (let round = 0; round < 5; round += 1) {
      values.dropped([droppedState()]);
      values.polled(renewedState());
    }

    values.stop();

    expect(logger.lines.at(-1)).toMatchObject({
      message: 'applications keep losing and regaining their values',
      fields: { applications: 1, changes: 6, failing: 0 },
    });
  });
});
