import { describe, expect, it } from 'vitest';
import { appSnapshotOf } from '../../src/poll/app-publisher.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { aSelected } from '../support/builders.ts';

const failure = { reason: 'server', message: 'HTTP 500', sinceMs: 0 } as const;

describe('the reason of a failure', () => {
  it.each([
    { what: 'before the first poll', state: {}, reason: undefined },
    { what: 'after a good poll', state: { pollSucceeded: true }, reason: undefined },
    {
      what: 'after a poll that failed',
      state: { pollSucceeded: false, failure },
      reason: 'server',
    },
    {
      what: 'after values were dropped because a poll hangs',
      state: { pollSucceeded: false, droppedMs: 1 },
      reason: 'timeout',
    },
    {
      what: 'of an application that is gone, whose poll counts as good',
      state: { pollSucceeded: true, gone: true, failure },
      reason: undefined,
    },
  ] satisfies readonly { what: string; state: Partial<AppState>; reason: string | undefined }[])(
    'is $reason $what',
    ({ state, reason }) => {
      const app = { ...newAppState(aSelected(), 0, 0), ...state };

      expect(appSnapshotOf('production', app, false).failureReason).toBe(reason);
    },
  );
});
