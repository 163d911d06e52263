import { mostShown } from '../config/diagnostic.ts';
import type { AccountConfig } from '../model/config.ts';
import type { VisibleAccount } from '../nerdgraph/accounts.ts';
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

/** Proposes the id that an account with the REST API needs for a comparison, and for its later source. */
function hintText({ name }: AccountConfig, visible: VisibleAccounts): string {
  return `account ${name}: for newrelic-exporter compare and "source: nerdgraph": ${proposal(visible)}`;
}

/** What a check of the id of an account has found; texts for people. */
export interface AccountIdFindings {
  readonly notes: string;
  readonly errors: string;
}

const nothing: AccountIdFindings = { notes: '', errors: '' };

/**
 * Compares the id of an account with the accounts that its key sees. What is wrong about an id that
 * nothing is polled with is only a note, unless the key certainly does not see that account.
 */
export function accountIdFindings(
  account: AccountConfig,
  visible: VisibleAccounts | undefined,
): AccountIdFindings {
  const { name, source } = account;
  if (visible === undefined) return nothing;
  const { accounts, failure } = visible;
  if (source.accountId === undefined) return { notes: hintText(account, visible), errors: '' };
  if (failure !== undefined) {
    const text = `account ${name}: account_id ${source.accountId} could not be checked: ${failure}\n`;
    return source.kind === 'rest' ? { notes: text, errors: '' } : { notes: '', errors: text };
  }
  if (accounts.some(({ id }) => id === source.accountId)) return nothing;
  const wrong = `account ${name}: the API key does not see the account with account_id ${source.accountId}`;
  const errors =
    accounts.length === 0
      ? `${wrong}: ${seesNone}\n`
      : `${wrong}: correct it, or use a key of a user who may see that account; this key sees:\n${listed(accounts)}`;
  return { notes: '', errors };
}
