import { ApiError } from '../model/api-error.ts';
import type { TransportDecorator, TransportParts } from './transport.ts';
import { statusReason } from './transport-errors.ts';

export interface Measure {
  readonly decorate: TransportDecorator;
  requestsInFlight(): number;
  /** Requests so far that were sent a second or third time. */
  retries(): number;
}

/** Counts and times every request that leaves the process. */
export function createMeasure({
  clock,
  observer,
}: Pick<TransportParts, 'clock' | 'observer'>): Measure {
  let inFlight = 0;
  let retries = 0;

  const decorate: TransportDecorator = (next) => async (request, signal) => {
    const { operation, retriedFor } = request;
    const startedMs = clock.monotonicMs();
    // Of a request that its caller aborted: it has neither a status nor a failure.
    let code = 'aborted';
    inFlight += 1;
    if (retriedFor !== undefined) {
      retries += 1;
      observer.retried(operation, retriedFor);
    }
    observer.started(operation);
    try {
      const response = await next(request, signal);
      code = String(response.status);
      const reason = statusReason(response.status);
      if (reason !== undefined) observer.failed(operation, reason);
      if (reason === 'throttled') observer.throttled();
      return response;
    } catch (error) {
      if (error instanceof ApiError) {
        code = error.status === undefined ? error.reason : String(error.status);
        observer.failed(operation, error.reason);
      }
      throw error;
    } finally {
      inFlight -= 1;
      observer.ended(operation, code, (clock.monotonicMs() - startedMs) / 1000);
    }
  };

  return { decorate, requestsInFlight: () => inFlight, retries: () => retries };
}
