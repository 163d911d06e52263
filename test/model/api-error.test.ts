import { describe, expect, it } from 'vitest';
import { failureReasons, failures, remedyOf } from '../../src/model/api-error.ts';
import { againOf } from '../../src/model/telemetry.ts';

describe('the reasons for a failure', () => {
  it('are worth another try where the fault may pass', () => {
    const worthIt = failureReasons.filter((reason) => failures[reason].isRetryable);

    expect(worthIt).toEqual(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);
  });

  it.each(failureReasons)('have a remedy of an API, or one for both: %s', (reason) => {
    const failure = { reason, status: undefined };

    expect(remedyOf(failure, { [reason]: 'Do this' }, 'try again')).toBe('Do this');
    expect(remedyOf(failure, {}, 'try again')).toMatch(/^[A-Z].*[^.]$/u);
  });

  it.each([
    { operation: 'application_metrics', again: 'it is asked again at the next poll' },
    { operation: 'query', again: 'it is asked again at the next poll' },
    { operation: 'list_applications', again: 'it is asked again at the next discovery' },
    { operation: 'list_hosts', again: 'it is asked again' },
    { operation: 'list_metrics', again: 'try again' },
  ] as const)('say when it is asked again: $operation', ({ operation, again }) => {
    const failure = { reason: 'server', status: 502 } as const;

    expect(remedyOf(failure, {}, againOf(operation)).split('failed; ')[1]).toBe(again);
  });

  it('matter less than the status 402, which only the account itself can end', () => {
    const failure = { reason: 'client', status: 402 } as const;

    expect(remedyOf(failure, { client: 'Do this' }, 'try again')).toMatch(
      /^New Relic asks for payment/u,
    );
  });
});
