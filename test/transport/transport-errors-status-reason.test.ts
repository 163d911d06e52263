import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureReasons } from '../../src/model/api-error.ts';
import { statusReason } from '../../src/transport/transport-errors.ts';

describe('statusReason', () => {
  it.each([
    { status: 200, reason: undefined },
    { status: 204, reason: undefined },
    { status: 299, reason: undefined },
    { status: 199, reason: 'client' },
    { status: 300, reason: 'redirect' },
    { status: 304, reason: 'redirect' },
    { status: 399, reason: 'redirect' },
    { status: 400, reason: 'client' },
    { status: 401, reason: 'auth' },
    { status: 403, reason: 'auth' },
    { status: 404, reason: 'not_found' },
    { status: 407, reason: 'client' },
    { status: 422, reason: 'client' },
    { status: 429, reason: 'throttled' },
    { status: 499, reason: 'client' },
    { status: 500, reason: 'server' },
    { status: 504, reason: 'server' },
    { status: 999, reason: 'server' },
  ])('takes $status for $reason', ({ status, reason }) => {
    expect(statusReason(status)).toBe(reason);
  });

  it('is defined for every number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double()), (status) => {
        const reason = statusReason(status);

        expect(reason === undefined || failureReasons.includes(reason)).toBe(true);
      }),
    );
  });
});
