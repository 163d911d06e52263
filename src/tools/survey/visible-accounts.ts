import { mostShown } from '../../config/diagnostic.ts';
import { inOrder } from '../../config/read-file.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { ApiError } from '../../model/api-error.ts';
import type { AccountConfig } from '../../model/config.ts';
import { regionAddresses, regions } from '../../model/region.ts';
import { countingFailures, entityIdOf, excerptOf, type JsonObject } from '../../newrelic/answer.ts';
import { statusOf } from '../../newrelic/failures.ts';
import { accountsDocument, accountsIn } from '../../newrelic/nerdgraph/graphql-client.ts';
import { noLog, type OpenAccount, withAccounts } from './ask.ts';
import type { Finding } from './finding.ts';

/** The accounts that the user of a key may see. */
export interface VisibleAccounts {
  /** By name. A name is fit for one line of text; empty if there is none. */
  readonly accounts: readonly { readonly id: number; readonly name: string }[];
  /** Why they are not known, without secrets. */
  readonly failure: string | undefined;
  /** Whether that is because New Relic does not accept the key. */
  readonly isRefused?: boolean;
}

/**
 * Asks with the key of an account of the file, of which nothing else need be known.
 *
 * @param mayRetry whether a failed call is sent again
 */
export async function visibleAccountsOf(
  account: AccountConfig,
  platform: ToolPlatform,
  mayRetry = true,
): Promise<VisibleAccounts> {
  try {
    return await withAccounts(
      [{ account, entries: [] }],
      platform,
      async ([open]) =>
        open === undefined
          ? { accounts: [], failure: 'no answer' }
          : askVisibleAccounts(open, mayRetry),
      { logger: noLog },
    );
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // Its own message names the account once more.
    const { message } = error.cause instanceof Error ? error.cause : error;
    return { accounts: [], failure: platform.redactor.redact(`${message}.`) };
  }
}

const purpose = { operation: 'list_applications', accountId: undefined } as const;

/**
 * Rejects with the reason of a stop. Nothing else is asked of a key whose account is not known, so the answer may
 * come from a transport that does not know NerdGraph's failures.
 *
 * @param mayRetry whether a failed call is sent again
 */
export async function askVisibleAccounts(
  open: OpenAccount,
  mayRetry = true,
): Promise<VisibleAccounts> {
  const { send, observer } = open.asking;
  const body = JSON.stringify({ query: accountsDocument });
  const { operation } = purpose;
  const request = { operation, target: '/graphql', body, answerSize: 'medium', mayRetry } as const;
  try {
    const answer = await send(request, open.platform.stopSignal);
    const response = { ...answer, status: statusOf(answer) };
    const accounts = countingFailures(response, purpose, observer, () =>
      accountsIn(response, purpose).flatMap(visibleAccountOf),
    );
    accounts.sort((one, other) => inOrder(one.name, other.name) || one.id - other.id);
    return { accounts, failure: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const failure = open.redacted(error.message);
    return { accounts: [], failure, isRefused: error.reason === 'auth' };
  }
}

/** An account that cannot be configured cannot be proposed either. */
function visibleAccountOf(element: JsonObject): VisibleAccounts['accounts'] {
  const id = Number(entityIdOf(element['id']) ?? 0);
  const { name } = element;
  if (id < 1 || !Number.isSafeInteger(id)) return [];
  return [{ id, name: typeof name === 'string' ? excerptOf(name) : '' }];
}

function lineOf({ id, name }: VisibleAccounts['accounts'][number]): string {
  return `account_id: ${id}${name === '' ? '' : `  # ${name}`}`;
}

function listed(accounts: VisibleAccounts['accounts']): string {
  const more = accounts.length - mostShown;
  const lines = [
    ...accounts.slice(0, mostShown).map(lineOf),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
  return lines.map((line) => `\n    ${line}`).join('');
}

const seesNone =
  'the API key sees no account: use a user key (NRAK-…) of a user who may see the account';

/** What to write into an account that has no id. */
export function proposalOf({ accounts, failure }: VisibleAccounts): string {
  // Where people find the id themselves.
  const lookUp = 'look it up in New Relic: user menu, API keys';
  if (failure !== undefined) return `no account_id can be proposed: ${failure} Or ${lookUp}`;
  const [first] = accounts;
  if (first === undefined) return `no account_id can be proposed: ${seesNone}; or ${lookUp}`;
  if (accounts.length === 1) return `add this line: ${lineOf(first)}`;
  return `the API key sees ${accounts.length} accounts, add the line of the right one:${listed(accounts)}`;
}

/**
 * Compares the id of an account with the accounts that its key sees. What is wrong about an id that
 * nothing is polled with is only a note, unless the key certainly does not see that account.
 *
 * @param visible `undefined` if nobody was asked
 */
export function accountIdFinding(
  { source: { kind, accountId } }: AccountConfig,
  visible: VisibleAccounts | undefined,
): readonly Finding[] {
  if (visible === undefined) return [];
  const { accounts, failure } = visible;
  if (accountId === undefined) {
    const message =
      'there is no account_id, which newrelic-exporter compare and "source: nerdgraph" need';
    return [{ severity: 'note', message, remedy: proposalOf(visible) }];
  }
  if (failure !== undefined) {
    const severity = kind === 'rest' ? 'note' : 'error';
    const message = `account_id ${accountId} could not be checked`;
    return [{ severity, message, remedy: failure }];
  }
  if (accounts.some(({ id }) => id === accountId)) return [];
  const others = `correct it, or use a key of a user who may see that account; this key sees:${listed(accounts)}`;
  const message = `the API key does not see the account with account_id ${accountId}`;
  return [{ severity: 'error', message, remedy: accounts.length === 0 ? seesNone : others }];
}

/**
 * Asks New Relic's other regions, by one call each, whether they know a key that the account's own region
 * refuses. An account with a `base_url` is not tried elsewhere, and no key is sent to the region of the US
 * government, or from it, to find out. Rejects with the reason of a stop.
 */
export async function otherRegionFindings(
  config: AccountConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const { name: account, region: own } = config;
  if (own === undefined || own === 'gov') return [];
  const others = regions.filter((region) => region !== own && region !== 'gov');
  const told = await Promise.all(
    others.map(async (region) => {
      const other = { ...config, region, baseUrl: regionAddresses[region] };
      return { region, ...(await visibleAccountsOf(other, platform, false)) };
    }),
  );
  const asked = `asked ${others.map((region) => regionAddresses[region]).join(' and ')}`;
  const home = told.find(({ failure }) => failure === undefined)?.region;
  if (home !== undefined) {
    const message = `${asked}: the region ${home} knows the key, so the account is there`;
    return [{ severity: 'error', account, message, remedy: `write region: ${home}` }];
  }
  const silent = told.filter(({ isRefused }) => isRefused !== true);
  const failures = silent.map(({ region, failure }) => `the region ${region}: ${failure}`);
  const remedy = failures.length === 0 ? undefined : failures.join('\n');
  const verb = silent.length === 0 ? 'knows' : 'says that it knows';
  return [
    { severity: 'note', account, message: `${asked}: no other region ${verb} the key`, remedy },
  ];
}
