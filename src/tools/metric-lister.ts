import type { Account } from '../daemon/accounts.ts';
import type { ListMetrics } from './metric-list.ts';
import { createMetricNames as createNrqlMetricNames } from './nrql-metric-names.ts';
import { createMetricNames as createRestMetricNames } from './rest-metric-names.ts';

/**
 * Lists the metrics of applications of an account, by the API that the account is polled with.
 *
 * @param maxPages pages of one list at most, with REST
 */
export function metricLister(
  { asking, prepared }: Pick<Account, 'asking' | 'prepared'>,
  maxPages: number,
): ListMetrics {
  const { source, timeoutMs } = prepared.account;
  if (source.kind === 'rest') return createRestMetricNames(maxPages, asking);
  return createNrqlMetricNames({ accountId: source.accountId, timeoutMs }, asking);
}
