import { officialAddresses, regionOf } from '../config/official-address.ts';
import type { AccountRuntimeDependencies } from '../daemon/account-runtime.ts';
import { ApiError } from '../model/api-error.ts';
import type { AccountConfig } from '../model/config.ts';
import type { DiscoveredAccount } from './account-discovery.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

/** What New Relic's other region says of a key that one region refuses. */
export interface OtherRegion {
  readonly region: 'us' | 'eu';
  readonly accepts: boolean;
}

function isRefused({ discovery: { error } }: Pick<DiscoveredAccount, 'discovery'>): boolean {
  return error instanceof ApiError && error.status === 401;
}

/**
 * Asks the other region, by one call, if the account's own region refuses the key. A key is only ever
 * sent to New Relic's two own addresses: an account with another one is not tried elsewhere.
 */
export async function askOtherRegion(
  discovered: Pick<DiscoveredAccount, 'account' | 'discovery'>,
  dependencies: AccountRuntimeDependencies,
): Promise<OtherRegion | undefined> {
  const { account } = discovered;
  const own = regionOf(account.baseUrl);
  if (own === undefined || !isRefused(discovered)) return undefined;
  const region = own === 'us' ? 'eu' : 'us';
  const other: AccountConfig = { ...account, baseUrl: officialAddresses[region] };
  const { accounts, failure } = await visibleAccountsOf(other, dependencies);
  return { region, accepts: failure === undefined && accounts.length > 0 };
}
