import type { Flags } from '../cli/flag-table.ts';
import { officialAddresses, regionOf } from '../config/official-address.ts';
import type { AccountRuntimeDependencies } from '../daemon/account-runtime.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import { ApiError } from '../model/api-error.ts';
import type { AccountConfig } from '../model/config.ts';
import type { ListenTrial } from '../server/try-listen.ts';
import type { RawTransport } from '../transport/transport.ts';
import {
  askingDependencies,
  type DiscoveredAccount,
  discoverAccounts,
} from './account-discovery.ts';
import { accountFindings, type CheckedConfig } from './check-account.ts';
import { type Finding, findingOf } from './check-finding.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

/**
 * Tries at the vendor what the configuration says: keys, entries, one call for values, the budget, the
 * clock. It also tries the addresses to listen on.
 */
export async function onlineFindings(
  checked: CheckedConfig,
  { listenAddresses }: Pick<Flags, 'listenAddresses'>,
  platform: ToolPlatform,
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
  platform: ToolPlatform,
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

/** `Date` counts whole seconds, and windows end minutes ago: a smaller difference does not matter. */
const tolerableSkewMs = 30_000;

/** The difference between two clocks, as one answer tells it. */
interface Reading {
  readonly skewMs: number;
  readonly roundTripMs: number;
}

/** A platform whose answers tell how far this machine's clock is from the vendor's. */
export interface DatedPlatform {
  readonly platform: ToolPlatform;
  /** What the clock is like; `undefined` if no answer had a date. */
  finding(): Finding | undefined;
}

/** Reads the `Date` of all answers that arrive through the platform. */
export function withDates(platform: ToolPlatform): DatedPlatform {
  const { clock } = platform;
  let best: Reading | undefined;

  const read = (date: unknown, sentMs: number): void => {
    const theirMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(theirMs)) return;
    const roundTripMs = clock.wallMs() - sentMs;
    if (best !== undefined && best.roundTripMs <= roundTripMs) return;
    best = { skewMs: theirMs - (sentMs + roundTripMs / 2), roundTripMs };
  };
  const dated = (raw: RawTransport): RawTransport => ({
    send: async (request, headers, signal) => {
      const sentMs = clock.wallMs();
      const response = await raw.send(request, headers, signal);
      read(response.headers['date'], sentMs);
      return response;
    },
    close: async () => raw.close(),
  });

  return {
    platform: {
      ...platform,
      openTransport: async (options) => dated(await platform.openTransport(options)),
    },
    finding: () => (best === undefined ? undefined : clockFinding(best.skewMs)),
  };
}

function clockFinding(skewMs: number): Finding {
  if (Math.abs(skewMs) <= tolerableSkewMs) {
    return findingOf('clock', 'ok', "the clock of this machine agrees with New Relic's");
  }
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'behind' : 'ahead of';
  const message = `the clock of this machine is ${seconds} s ${side} New Relic's`;
  return findingOf('clock', 'warning', message, {
    remedy: 'set it, such as by NTP; meanwhile the exporter follows the clock of New Relic',
  });
}

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
async function askOtherRegion(
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
