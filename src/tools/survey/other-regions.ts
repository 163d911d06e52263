import type { ToolPlatform } from '../../daemon/platform.ts';
import type { AccountConfig } from '../../model/config.ts';
import { regionAddresses, regions } from '../../model/region.ts';
import type { Finding } from './finding.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

const ignore = (): void => undefined;
/** The findings say all there is to say. */
const nobody = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Asks New Relic's other regions, by one call each, whether they know a key that the account's own region
 * refuses. An account with a `base_url` is not tried elsewhere, and no key is sent to the region of the US
 * government, or from it, to find out. Rejects with the reason of a stop.
 */
export async function otherRegionFindings(
  account: AccountConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const { name, region: own } = account;
  if (own === undefined || own === 'gov') return [];
  const told = await Promise.all(
    regions
      .filter((region) => region !== own && region !== 'gov')
      .map(async (region) => {
        const other = { ...account, region, baseUrl: regionAddresses[region] };
        return { region, ...(await visibleAccountsOf(other, platform, nobody)) };
      }),
  );
  const asked = `asked ${told.map(({ region }) => regionAddresses[region]).join(' and ')}`;
  const home = told.find(({ failure }) => failure === undefined);
  if (home !== undefined) {
    const message = `${asked}: the region ${home.region} knows the key, so the account is there`;
    return [{ severity: 'error', account: name, message, remedy: `write region: ${home.region}` }];
  }
  const silent = told.filter(({ isRefused }) => isRefused !== true);
  const failures = silent.map(({ region, failure }) => `the region ${region}: ${failure}`);
  const remedy = failures.length === 0 ? undefined : failures.join('\n');
  const message = `${asked}: no other region ${silent.length === 0 ? 'knows' : 'says that it knows'} the key`;
  return [{ severity: 'note', account: name, message, remedy }];
}
