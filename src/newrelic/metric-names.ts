import type { TransactionType } from '../model/application.ts';

/** The vendor's names of the two throughput metrics. */
export const metricNames: Readonly<Record<TransactionType, string>> = {
  web: 'HttpDispatcher',
  other: 'OtherTransaction/all',
};

/** The value read of both metrics: calls in the window divided by its minutes. */
export const throughputValue = 'requests_per_minute';
