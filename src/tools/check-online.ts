import type { ToolPlatform } from '../daemon/platform.ts';
import { regionAddresses, regionOf, regions } from '../model/region.ts';
import { printable } from '../model/shown-text.ts';
import type { Logger } from '../model/telemetry.ts';
import { isUnauthorized } from '../poll/discovery-state.ts';
import {
  askingDependencies,
  type DiscoveredAccount,
  discoverAccounts,
} from './account-discovery.ts';
import { accountFindings, type CheckedConfig } from './check-account.ts';
import { type Finding, findingOf } from './check-finding.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

/** Tries at New Relic what the configuration says: keys, entries, one call for values, the budget. */
export async function onlineFindings(
  checked: CheckedConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const logged: Finding[] = [];
  const logger = findingLogger((finding) => logged.push(finding));
  const discovered = await discoverAccounts(checked.config, platform, 'check', logger);
  const accounts = await Promise.all(
    discovered.map(async (one) => [
      ...(await accountFindings(one, checked)),
      ...(await regionFindings(one, checked, { platform, logger })),
    ]),
  );
  return [...accounts.flat(), ...logged];
}

const ignore = (): void => undefined;

/** Makes findings of what would otherwise be lines of a log between them. */
function findingLogger(add: (finding: Finding) => void): Logger {
  const warn: Logger['warn'] = ({ account, accounts, remedy, error }, message) => {
    const of = Array.isArray(accounts) ? `: ${accounts.join(', ')}` : '';
    const why = error instanceof Error ? error.message : remedy;
    add(
      findingOf('warning', printable(message + of), {
        account: typeof account === 'string' ? account : undefined,
        remedy: typeof why === 'string' ? why : undefined,
      }),
    );
  };
  return { debug: ignore, info: ignore, warn, error: warn };
}

/**
 * Asks New Relic's other regions, by one call each, if the account's own region does not know the key. An
 * account with a `base_url` is not tried elsewhere, and no key is sent to the region of the US government,
 * or from it, to find out.
 */
async function regionFindings(
  { account, discovery, queryAnswers, visible }: DiscoveredAccount,
  { config, file }: CheckedConfig,
  { platform, logger }: { readonly platform: ToolPlatform; readonly logger: Logger },
): Promise<readonly Finding[]> {
  const index = config.accounts.findIndex(({ name }) => name === account.name);
  const place = (key: string) => file.at('accounts', index, key);
  const own = place('base_url') === undefined ? regionOf(account.baseUrl) : undefined;
  const errors = [discovery.error, ...queryAnswers.map(({ outcome }) => outcome.error)];
  const isKnown = visible !== undefined && visible.failure === undefined;
  if (own === undefined || own === 'gov' || isKnown || !errors.some(isUnauthorized)) return [];
  const dependencies = await askingDependencies(platform, logger);
  const answers = await Promise.all(
    regions
      .filter((region) => region !== own && region !== 'gov')
      .map(async (region) => {
        const other = { ...account, baseUrl: regionAddresses[region] };
        return { region, ...(await visibleAccountsOf(other, dependencies, { isOptional: true })) };
      }),
  );
  const asked = `asked ${answers.map(({ region }) => regionAddresses[region]).join(' and ')}`;
  const home = answers.find(({ failure }) => failure === undefined);
  if (home === undefined) {
    const silent = answers.filter(({ isRefused }) => isRefused !== true);
    const failures = silent.map(({ region, failure }) => `the region ${region}: ${failure}`);
    const remedy = failures.length === 0 ? undefined : failures.join('\n');
    const message = `${asked}: no other region ${silent.length === 0 ? 'knows' : 'says that it knows'} the key`;
    return [findingOf('note', message, { account: account.name, remedy })];
  }
  const { region } = home;
  return [
    findingOf('error', `${asked}: the region ${region} knows the key, so the account is there`, {
      account: account.name,
      remedy: `write region: ${region}`,
      place: file.placeOf((place('region') ?? place('name'))?.span),
    }),
  ];
}
