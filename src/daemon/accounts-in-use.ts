import type { AccountConfig, AppEntry, Config } from '../model/config.ts';

/** An account of the configuration, and its entries of `apps`; at least one. */
export interface AccountInUse {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
}

/** The accounts that entries belong to; the others are never asked for anything. */
export function accountsInUse({
  accounts,
  apps,
}: Pick<Config, 'accounts' | 'apps'>): readonly AccountInUse[] {
  const entries = new Map<string, AppEntry[]>();
  for (const entry of apps) {
    const known = entries.get(entry.account);
    if (known === undefined) entries.set(entry.account, [entry]);
    else known.push(entry);
  }
  return accounts.flatMap((account) => {
    const own = entries.get(account.name);
    return own === undefined ? [] : [{ account, entries: own }];
  });
}
