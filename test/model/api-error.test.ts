import { describe, expect, it } from 'vitest';
import { failureReasons, failures, remedyOf } from '../../src/model/api-error.ts';

describe('the reasons for a failure', () => {
  it('are worth another try where the fault may pass', () => {
    const worthIt = failureReasons.filter((reason) => failures[reason].isRetryable);

    expect(worthIt).toEqual(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);
  });

  it.each(failureReasons)('have a remedy of an API, or one for both: %s', (reason) => {
    const failure = { reason, status: undefined };

    expect(remedyOf(failure, { [reason]: 'Do this' }, 'query')).toBe('Do this');
    expect(remedyOf(failure, {}, 'list_metrics')).toMatch(/^[A-Z].*[^.]$/u);
  });

  it.each([
    { operation: 'list_applications', says: 'it is asked again at the next discovery' },
    { operation: 'list_hosts', says: 'it is asked again at the next poll' },
    { operation: 'query', says: 'it is asked again at the next poll' },
    { operation: 'list_metrics', says: 'try again' },
  ] as const)('say of $operation: $says', ({ operation, says }) => {
    const failure = { reason: 'server', status: 502 } as const;

    expect(remedyOf(failure, {}, operation).split('failed; ')[1]).toBe(says);
  });

  it('matter less than the status 402, which only the account itself can end', () => {
    const failure = { reason: 'client', status: 402 } as const;

    expect(remedyOf(failure, { client: 'Do this' }, 'query')).toMatch(
      /^New Relic asks for payment/u,
    );
  });
});
