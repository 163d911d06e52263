import pLimit from 'p-limit';
import type { TransportDecorator } from './transport-decorator.ts';

/**
 * Lets at most `concurrency` requests be in flight; the others wait in the order they came. A waiting
 * request whose signal is aborted rejects when its turn comes.
 */
export function limitConcurrency(options: { readonly concurrency: number }): TransportDecorator {
  const limit = pLimit(options.concurrency);
  return (next) => (request, signal) => limit(next, request, signal);
}
