import { mostShown } from '../config/diagnostic.ts';
import type { AccountConfig } from '../model/config.ts';
import type { VisibleAccount } from './listed-accounts.ts';
import type { VisibleAccounts } from './visible-accounts.ts';

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
export function missingIdText(
  { name }: Pick<AccountConfig, 'name'>,
  visible: VisibleAccounts,
): string {
  return `account ${name}: ${proposal(visible)}`;
}

/** What a check of the id of an account has found. */
export interface AccountIdFinding {
  readonly severity: 'note' | 'error';
  readonly message: string;
  /** It may have several lines. */
  readonly remedy: string;
}

/**
 * Compares the id of an account with the accounts that its key sees. What is wrong about an id that
 * nothing is polled with is only a note, unless the key certainly does not see that account.
 */
export function accountIdFinding(
  { source }: Pick<AccountConfig, 'source'>,
  visible: VisibleAccounts | undefined,
): AccountIdFinding | undefined {
  if (visible === undefined) return undefined;
  const { accounts, failure } = visible;
  const { accountId } = source;
  if (accountId === undefined) {
    const message =
      'there is no account_id, which newrelic-exporter compare and "source: nerdgraph" need';
    return { severity: 'note', message, remedy: proposal(visible).trimEnd() };
  }
  if (failure !== undefined) {
    const severity = source.kind === 'rest' ? 'note' : 'error';
    const message = `account_id ${accountId} could not be checked`;
    return { severity, message, remedy: failure };
  }
  if (accounts.some(({ id }) => id === accountId)) return undefined;
  const message = `the API key does not see the account with account_id ${accountId}`;
  const others = `correct it, or use a key of a user who may see that account; this key sees:\n${listed(accounts)}`;
  return {
    severity: 'error',
    message,
    remedy: accounts.length === 0 ? seesNone : others.trimEnd(),
  };
}
