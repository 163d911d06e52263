import { describe, expect, it } from 'vitest';
import { failureReasons, failures, remedyOf } from '../../src/model/api-error.ts';

describe('the reasons for a failure', () => {
  it('are worth another try where the fault may pass', () => {
    const worthIt = failureReasons.filter((reason) => failures[reason].isRetryable);

    expect(worthIt).toEqual(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);
  });

  it.each(failureReasons)('have a remedy of an API, or one for both: %s', (reason) => {
    const failure = { reason, status: undefined };

    expect(remedyOf(failure, { [reason]: 'Do this' }, false)).toBe('Do this');
    expect(remedyOf(failure, {}, true)).toMatch(/^[A-Z].*[^.]$/u);
  });

  it('are asked again by a poll, but not by a command', () => {
    const failure = { reason: 'server', status: 502 } as const;

    expect(remedyOf(failure, {}, false)).toMatch(/failed; it is asked again at the next poll$/u);
    expect(remedyOf(failure, {}, true)).toMatch(/failed; try again$/u);
  });

  it('matter less than the status 402, which only the account itself can end', () => {
    const failure = { reason: 'client', status: 402 } as const;

    expect(remedyOf(failure, { client: 'Do this' }, false)).toMatch(/^New Relic asks for payment/u);
  });
});
