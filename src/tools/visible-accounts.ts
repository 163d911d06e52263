import { AccountRuntime, type AccountRuntimeDependencies } from '../daemon/account-runtime.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { prepareAccount } from '../daemon/prepare-account.ts';
import { ApiError } from '../model/api-error.ts';
import type { AccountConfig } from '../model/config.ts';
import { listVisibleAccounts, type VisibleAccount } from './listed-accounts.ts';

/** The accounts that the user of a key may see. */
export interface VisibleAccounts {
  readonly accounts: readonly VisibleAccount[];
  /** Why they are not known, without secrets. */
  readonly failure: string | undefined;
}

/** Asks with the key of an account that is open. */
export async function visibleAccounts(
  runtime: Pick<AccountRuntime, 'asking'>,
  { redactor, stopSignal }: Pick<Platform, 'redactor' | 'stopSignal'>,
): Promise<VisibleAccounts> {
  try {
    const accounts = await listVisibleAccounts(runtime.asking, stopSignal);
    return { accounts, failure: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { accounts: [], failure: redactor.redact(error.message) };
  }
}

/** Asks with the key of an account of the file, of which nothing else need be known. */
export async function visibleAccountsOf(
  account: AccountConfig,
  dependencies: AccountRuntimeDependencies,
): Promise<VisibleAccounts> {
  const { platform } = dependencies;
  try {
    const prepared = await prepareAccount(account, [], dependencies);
    const raw = await platform.openTransport(prepared.wire);
    const runtime = new AccountRuntime(prepared, raw, dependencies);
    try {
      return await visibleAccounts(runtime, platform);
    } finally {
      await runtime.close();
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // Its own message names the account once more.
    const { message } = error.cause instanceof Error ? error.cause : error;
    return { accounts: [], failure: platform.redactor.redact(`${message}.`) };
  }
}
