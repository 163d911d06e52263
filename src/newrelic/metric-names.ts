import type { TransactionType } from '../model/application.ts';

/** The vendor's names of the two throughput metrics, the same in both of its APIs. */
export const metricNames: Readonly<Record<TransactionType, string>> = {
  web: 'HttpDispatcher',
  other: 'OtherTransaction/all',
};
