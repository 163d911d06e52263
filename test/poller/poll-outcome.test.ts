import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { applicationScope, untriedOutcome } from '../../src/poller/poll-outcome.ts';

describe('untriedOutcome', () => {
  it('is a poll whose one call was refused', () => {
    const error = new ApiError('auth', 'HTTP 401');

    const outcome = untriedOutcome(error);

    expect(outcome).toEqual({
      reading: undefined,
      error,
      failed: new Set([applicationScope]),
      plannedCalls: 1,
      gone: false,
      refused: true,
      hostNames: undefined,
      hostNamesError: undefined,
    });
    expect(applicationScope).toBe('application');
  });
});
