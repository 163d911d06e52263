import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import {
  applicationScope,
  hostsScope,
  hostsUnknownOutcome,
  nothingToAskOutcome,
  skippedOutcome,
  unlistedError,
} from '../../src/model/poll-outcome.ts';

const noNames = { hostNames: undefined, hostNamesError: undefined, extraCalls: 0 };

describe('skippedOutcome', () => {
  it('is a poll whose only part failed because the key was refused', () => {
    const error = new ApiError('auth', 'HTTP 401');

    const outcome = skippedOutcome(error);

    expect(outcome).toEqual({
      ...noNames,
      reading: undefined,
      error,
      failed: new Set([applicationScope]),
      partCount: 1,
      gone: false,
      unauthorized: true,
    });
    expect(applicationScope).toBe('application');
  });
});

describe('nothingToAskOutcome', () => {
  it('is a poll that succeeded and brought no value', () => {
    expect(nothingToAskOutcome).toEqual({
      ...noNames,
      reading: { windowEndMs: undefined, series: [], application: [], hosts: new Map() },
      error: undefined,
      failed: new Set(),
      partCount: 1,
      gone: false,
      unauthorized: false,
    });
  });
});

describe('hostsUnknownOutcome', () => {
  it('is a poll that failed because nobody has said which hosts there are', () => {
    expect(hostsUnknownOutcome).toEqual({
      ...noNames,
      reading: undefined,
      error: unlistedError,
      failed: new Set([hostsScope]),
      partCount: 1,
      gone: false,
      unauthorized: false,
    });
    expect(unlistedError.message).toContain('the list of applications does not name them');
  });
});
