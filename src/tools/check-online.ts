import { officialAddresses, regionOf } from '../config/official-address.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import {
  askingDependencies,
  type DiscoveredAccount,
  discoverAccounts,
  isRefused,
} from './account-discovery.ts';
import { accountFindings, type CheckedConfig } from './check-account.ts';
import { type Finding, findingOf } from './check-finding.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

/** Tries at New Relic what the configuration says: keys, entries, one call for values, the budget. */
export async function onlineFindings(
  checked: CheckedConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const discovered = await discoverAccounts(checked.config, platform, 'check');
  const accounts = await Promise.all(
    discovered.map(async (one) => [
      ...(await accountFindings(one, checked)),
      ...(await regionFindings(one, checked, platform)),
    ]),
  );
  return accounts.flat();
}

/**
 * Asks the other region, by one call, if the account's own region refuses the key. A key is only ever
 * sent to New Relic's two own addresses: an account with another one is not tried elsewhere.
 */
async function regionFindings(
  { account, discovery, queryAnswers }: DiscoveredAccount,
  { config, file }: CheckedConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const own = regionOf(account.baseUrl);
  const errors = [discovery.error, ...queryAnswers.map(({ outcome }) => outcome.error)];
  if (own === undefined || !errors.some(isRefused)) return [];
  const region = own === 'us' ? 'eu' : 'us';
  const other = { ...account, baseUrl: officialAddresses[region] };
  const { accounts } = await visibleAccountsOf(other, await askingDependencies(platform));
  if (accounts.length === 0) {
    const message = `the region ${region} does not accept the key either`;
    return [findingOf('note', message, { account: account.name })];
  }
  const index = config.accounts.findIndex(({ name }) => name === account.name);
  const value =
    file.at('accounts', index, 'region') ??
    file.at('accounts', index, 'base_url') ??
    file.at('accounts', index, 'name');
  return [
    findingOf('error', `the region ${region} accepts the key, so the account is there`, {
      account: account.name,
      remedy: `write region: ${region}`,
      place: file.placeOf(value?.span),
    }),
  ];
}
