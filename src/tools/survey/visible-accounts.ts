import { mostShown } from '../../config/diagnostic.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { ApiError } from '../../model/api-error.ts';
import type { AccountConfig } from '../../model/config.ts';
import type { Logger } from '../../model/telemetry.ts';
import { countingFailures, entityIdOf, excerptOf, type JsonObject } from '../../newrelic/answer.ts';
import { statusOf } from '../../newrelic/failures.ts';
import { accountsDocument, accountsIn } from '../../newrelic/nerdgraph/graphql-client.ts';
import { type OpenAccount, withAccounts } from './ask.ts';
import type { Finding } from './finding.ts';

/** The accounts that the user of a key may see. */
export interface VisibleAccounts {
  readonly accounts: readonly VisibleAccount[];
  /** Why they are not known, without secrets. */
  readonly failure: string | undefined;
  /** Whether that is because New Relic does not accept the key. */
  readonly isRefused?: boolean;
}

/** An account that the user of a key may see. */
interface VisibleAccount {
  readonly id: number;
  /** Fit for one line of text; empty if there is none. */
  readonly name: string;
}

/**
 * Asks with the key of an account of the file, of which nothing else need be known.
 *
 * @param logger gets the warnings; with it, a failed call is not sent again
 */
export async function visibleAccountsOf(
  account: AccountConfig,
  platform: ToolPlatform,
  logger?: Logger,
): Promise<VisibleAccounts> {
  const ask = async ([open]: readonly OpenAccount[]): Promise<VisibleAccounts> =>
    open === undefined
      ? { accounts: [], failure: 'no answer' }
      : askVisibleAccounts(open, logger === undefined);
  try {
    return await withAccounts([{ account, entries: [] }], platform, ask, { logger });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // Its own message names the account once more.
    const { message } = error.cause instanceof Error ? error.cause : error;
    return { accounts: [], failure: platform.redactor.redact(`${message}.`) };
  }
}

const purpose = { operation: 'list_applications', accountId: undefined } as const;

/**
 * The accounts that the user of the key may see, by name. Rejects with the reason of a stop. Nothing else is
 * asked of a key whose account is not known, so the answer may come from a transport that does not know
 * NerdGraph's failures.
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
  const answerSize = 'medium';
  const request = { operation, target: '/graphql', body, answerSize, mayRetry } as const;
  try {
    const answer = await send(request, open.platform.stopSignal);
    const response = { ...answer, status: statusOf(answer) };
    const elements = countingFailures(response, purpose, observer, () =>
      accountsIn(response, purpose),
    );
    const accounts = elements
      .map(visibleAccountOf)
      .filter((account) => account !== undefined)
      .toSorted(byName);
    return { accounts, failure: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const failure = open.redacted(error.message);
    return { accounts: [], failure, isRefused: error.reason === 'auth' };
  }
}

function visibleAccountOf(element: JsonObject): VisibleAccount | undefined {
  const id = Number(entityIdOf(element['id']) ?? 0);
  const { name } = element;
  // An account that cannot be configured cannot be proposed either.
  if (id < 1 || !Number.isSafeInteger(id)) return undefined;
  return { id, name: typeof name === 'string' ? excerptOf(name) : '' };
}

function byName(left: VisibleAccount, right: VisibleAccount): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return left.id - right.id;
}

function lineOf({ id, name }: VisibleAccount): string {
  return name === '' ? `account_id: ${id}` : `account_id: ${id}  # ${name}`;
}

function listed(accounts: readonly VisibleAccount[]): string {
  const lines = accounts.slice(0, mostShown).map((account) => `    ${lineOf(account)}\n`);
  const more = accounts.length - lines.length;
  return lines.join('') + (more === 0 ? '' : `    and ${more} more\n`);
}

const seesNone =
  'the API key sees no account: use a user key (NRAK-…) of a user who may see the account';

/** Where people find the id themselves. */
const lookUp = 'look it up in New Relic: user menu, API keys';

/** What to write into an account that has no id. */
function proposal({ accounts, failure }: VisibleAccounts): string {
  if (failure !== undefined) return `no account_id can be proposed: ${failure} Or ${lookUp}\n`;
  const [first, second] = accounts;
  if (first === undefined) return `no account_id can be proposed: ${seesNone}; or ${lookUp}\n`;
  if (second === undefined) return `add this line: ${lineOf(first)}\n`;
  return `the API key sees ${accounts.length} accounts, add the line of the right one:\n${listed(accounts)}`;
}

/** Proposes the id that an account with NerdGraph lacks. */
export function missingIdText(account: AccountConfig, visible: VisibleAccounts): string {
  return `account ${account.name}: ${proposal(visible)}`;
}

/**
 * Compares the id of an account with the accounts that its key sees. What is wrong about an id that
 * nothing is polled with is only a note, unless the key certainly does not see that account.
 *
 * @param visible `undefined` if nobody was asked
 */
export function accountIdFinding(
  { name: account, source }: AccountConfig,
  visible: VisibleAccounts | undefined,
): readonly Finding[] {
  if (visible === undefined) return [];
  const { accounts, failure } = visible;
  const { accountId } = source;
  if (accountId === undefined) {
    const message =
      'there is no account_id, which newrelic-exporter compare and "source: nerdgraph" need';
    return [{ severity: 'note', account, message, remedy: proposal(visible).trimEnd() }];
  }
  if (failure !== undefined) {
    const severity = source.kind === 'rest' ? 'note' : 'error';
    const message = `account_id ${accountId} could not be checked`;
    return [{ severity, account, message, remedy: failure }];
  }
  if (accounts.some(({ id }) => id === accountId)) return [];
  const message = `the API key does not see the account with account_id ${accountId}`;
  const others = `correct it, or use a key of a user who may see that account; this key sees:\n${listed(accounts)}`;
  const remedy = accounts.length === 0 ? seesNone : others.trimEnd();
  return [{ severity: 'error', account, message, remedy }];
}
