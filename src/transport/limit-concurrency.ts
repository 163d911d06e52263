import pLimit from 'p-limit';
import type { TransportDecorator } from './transport-decorator.ts';

export interface ConcurrencyLimit {
  /**
   * Lets at most `concurrency` requests be in flight; the others wait in the order they came. A waiting
   * request whose signal is aborted rejects when its turn comes.
   */
  readonly decorate: TransportDecorator;
  /** Another limit from now on; what is in flight beyond it goes on. */
  resize(concurrency: number): void;
}

export function createConcurrencyLimit(options: {
  readonly concurrency: number;
}): ConcurrencyLimit {
  const limit = pLimit(options.concurrency);
  return {
    decorate: (next) => (request, signal) => limit(next, request, signal),
    resize: (concurrency) => {
      limit.concurrency = concurrency;
    },
  };
}
