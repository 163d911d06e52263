import type { Account } from '../daemon/accounts.ts';
import type { HostNames } from '../model/source.ts';
import { listHosts } from '../newrelic/nerdgraph/discovery.ts';
import { createGraphqlClient } from '../newrelic/nerdgraph/graphql-client.ts';
import { createUnexpectedAnswers } from '../newrelic/nerdgraph/unexpected-answers.ts';
import { createRestClient } from '../newrelic/rest/rest-source.ts';

/**
 * Reads the names of an application's hosts, as far as they can be read.
 *
 * @param wanted names that one host may have: other hosts may be left out
 */
export async function hostNamesOf(
  { asking, prepared }: Pick<Account, 'asking' | 'prepared'>,
  applicationId: string,
  signal: AbortSignal,
  wanted?: readonly string[],
): Promise<HostNames> {
  const { source, timeoutMs } = prepared.account;
  if (source.kind === 'rest') {
    return createRestClient(asking).hostNames(applicationId, { signal }, wanted);
  }
  const { vendorClock } = asking;
  const { accountId } = source;
  const unexpected = createUnexpectedAnswers(prepared.account.name, asking);
  const client = createGraphqlClient({
    ...asking,
    accountId,
    timeoutMs: () => timeoutMs,
    unexpected,
  });
  return listHosts(applicationId, { client, wallMs: () => vendorClock.wallMs() }, signal);
}
