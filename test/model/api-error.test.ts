import { describe, expect, it } from 'vitest';
import { failureReasons, failures, remedyOf } from '../../src/model/api-error.ts';

describe('the reasons for a failure', () => {
  it('are worth another try where the fault may pass', () => {
    const worthIt = failureReasons.filter((reason) => failures[reason].isRetryable);

    expect(worthIt).toEqual(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);
  });

  it.each(failureReasons)('have a remedy of an API, or one for both: %s', (reason) => {
    const failure = { reason, status: undefined };

    expect(remedyOf(failure, { [reason]: 'Do this' })).toBe('Do this');
    expect(remedyOf(failure, {})).toMatch(/^[A-Z].*[^.]$/u);
  });

  it('have a remedy that is true of a daemon, and of a command that asks once', () => {
    const remedies = failureReasons.map((reason) => remedyOf({ reason, status: undefined }, {}));

    expect(remedies).toContain(
      'New Relic, or something on the way to it, failed, which may pass by itself',
    );
    expect(remedies.filter((one) => /poll|discovery|try again/u.test(one))).toEqual([]);
  });

  it('matter less than the status 402, which only the account itself can end', () => {
    const failure = { reason: 'client', status: 402 } as const;

    expect(remedyOf(failure, { client: 'Do this' })).toMatch(/^New Relic asks for payment/u);
  });
});
