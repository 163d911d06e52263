import type { Operation } from '../model/operation.ts';
import type { Pacer } from './pacer.ts';
import type { TransportDecorator } from './transport-decorator.ts';

/** Everything else depends on knowing what there is, and these calls are few. */
function isUrgent(operation: Operation): boolean {
  return operation === 'list_applications' || operation === 'list_hosts';
}

/** Takes a place in the account's budget for every request, and gives it back when that ended. */
export function pace(dependencies: { readonly pacer: Pacer }): TransportDecorator {
  const { pacer } = dependencies;
  return (next) => async (request, signal) => {
    const release = await pacer.acquire(isUrgent(request.operation), signal);
    try {
      return await next(request, signal);
    } finally {
      release();
    }
  };
}
