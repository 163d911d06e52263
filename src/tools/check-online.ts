import type { Flags } from '../cli/flag-table.ts';
import type { Platform } from '../daemon/platform.ts';
import type { ListenTrial } from '../server/try-listen.ts';
import {
  askingDependencies,
  type DiscoveredAccount,
  discoverAccounts,
} from './account-discovery.ts';
import { accountFindings, type CheckedConfig } from './check-account.ts';
import { type Finding, findingOf } from './check-finding.ts';
import { withDates } from './clock-check.ts';
import { askOtherRegion } from './other-region.ts';

/**
 * Tries at the vendor what the configuration says: keys, entries, one call for values, the budget, the
 * clock. It also tries the addresses to listen on.
 */
export async function onlineFindings(
  checked: CheckedConfig,
  { listenAddresses }: Pick<Flags, 'listenAddresses'>,
  platform: Platform,
): Promise<readonly Finding[]> {
  const dated = withDates(platform);
  const discovered = await discoverAccounts(checked.config, dated.platform, 'check');
  const accounts = await Promise.all(
    discovered.map(async (one) => [
      ...(await accountFindings(one, checked)),
      ...(await regionFindings(one, checked, platform)),
    ]),
  );
  const clock = dated.finding();
  const listening = await Promise.all(
    listenAddresses.map(async (address) =>
      listenFinding(address, await platform.tryListen(address)),
    ),
  );
  return [...accounts.flat(), ...(clock === undefined ? [] : [clock]), ...listening];
}

async function regionFindings(
  discovered: DiscoveredAccount,
  { config, file }: CheckedConfig,
  platform: Platform,
): Promise<readonly Finding[]> {
  const { account } = discovered;
  const other = await askOtherRegion(discovered, await askingDependencies(platform));
  if (other === undefined) return [];
  if (!other.accepts) {
    const message = `the region ${other.region} does not accept the key either`;
    return [findingOf('key', 'note', message, { account: account.name })];
  }
  const index = config.accounts.findIndex(({ name }) => name === account.name);
  const value =
    file.at('accounts', index, 'region') ??
    file.at('accounts', index, 'base_url') ??
    file.at('accounts', index, 'name');
  return [
    findingOf(
      'key',
      'error',
      `the region ${other.region} accepts the key, so the account is there`,
      {
        account: account.name,
        remedy: `write region: ${other.region}`,
        place: file.placeOf(value?.span),
      },
    ),
  ];
}

function listenFinding(address: string, trial: ListenTrial): Finding {
  switch (trial.kind) {
    case 'free':
      return findingOf('listen', 'ok', `${address} is free to listen on`);
    case 'exporter':
      return findingOf('listen', 'ok', `an exporter already listens on ${address}, and it works`);
    case 'failed':
      return findingOf('listen', 'warning', trial.error.message);
  }
}
