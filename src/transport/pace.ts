import type { Operation } from '../model/operation.ts';
import type { Membership } from './rate-limiters.ts';
import type { PermittedRequest, Send, Transport } from './transport.ts';

/** Everything else depends on knowing what there is, and these calls are few. */
function isUrgent(operation: Operation): boolean {
  return operation === 'list_applications' || operation === 'list_hosts';
}

/** Waits for a permit of the account's key for every request, and releases it when that ended. */
export function pace(dependencies: {
  readonly membership: Pick<Membership, 'acquire'>;
}): (next: Send<PermittedRequest>) => Transport {
  const { membership } = dependencies;
  return (next) => async (request, signal) => {
    const permit = await membership.acquire(isUrgent(request.operation), signal);
    try {
      return await next({ ...request, permit }, signal);
    } finally {
      permit.release();
    }
  };
}
