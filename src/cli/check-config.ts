import { KeyError, readApiKey } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import { ConfigError } from '../config/diagnostic.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { loadForCommand, renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { restAccountsOf } from '../daemon/rest-warnings.ts';
import type { AccountConfig, Config } from '../model/config.ts';
import { endOfRestAt } from '../rest/end-of-rest.ts';
import {
  askingDependencies,
  type DiscoveredAccount,
  discoverAccounts,
} from './account-discovery.ts';
import { accountIdFindings, missingIdText } from './account-id-text.ts';
import type { Flags } from './flag-table.ts';
import { countOf, type Outcome } from './one-shot.ts';
import { visibleAccountsOf } from './visible-accounts.ts';

/**
 * Checks the file, and the key and CA files that it names; with `--online` it also tries keys and
 * entries at the vendor. Prints all errors and warnings, and which file is good. Ends with 1 if a key is
 * refused, an account cannot be discovered, an entry matches nothing, or a key does not see the account
 * of the id. If only ids of accounts are missing in the file, `--online` proposes them.
 */
export async function checkConfig(flags: Flags, platform: Platform): Promise<Outcome> {
  const { config, warnings } = await loaded(flags, platform);
  platform.stderr.write(renderWarnings(warnings));
  const fileProblems = await unreadableFiles(config, platform);
  if (fileProblems.length > 0) {
    throw new CommandError(
      2,
      fileProblems.map((problem) => `${flags.configFile}: ${problem}`).join('\n'),
    );
  }
  const { accounts, apps } = config;
  const end = endOfRest(config, flags.configFile, platform);
  platform.stderr.write(end.warnings.join(''));
  const verdict =
    `${flags.configFile}: ok, ${countOf(accounts.length, 'account')}, ` +
    `${countOf(apps.length, 'entry', 'entries')} of apps, ` +
    `${countOf(warnings.length + end.warnings.length, 'warning')}\n${end.notes.join('')}`;
  if (!flags.online) return { exitCode: 0, output: verdict };
  const { exitCode, output } = await checkOnline(config, platform);
  return { exitCode, output: verdict + output };
}

async function loaded(flags: Flags, platform: Platform): Promise<LoadedConfig> {
  try {
    return await loadForCommand(flags.configFile, platform);
  } catch (error) {
    const { cause } = error instanceof CommandError ? error : {};
    if (!flags.online || !(cause instanceof ConfigError) || cause.withoutId.length === 0)
      throw error;
    const dependencies = await askingDependencies(platform);
    const proposals = await Promise.all(
      cause.withoutId.map(async (account) =>
        missingIdText(account, await visibleAccountsOf(account, dependencies)),
      ),
    );
    const message = `${cause.message}\n${proposals.join('').trimEnd()}`;
    throw new CommandError(2, message, { cause });
  }
}

/** A note for each account with the REST API v2, and later a warning. */
function endOfRest(
  config: Config,
  configFile: string,
  { clock }: Pick<Platform, 'clock'>,
): { readonly notes: readonly string[]; readonly warnings: readonly string[] } {
  const { isUrgent, message, remedy } = endOfRestAt(clock.wallMs());
  const severity = isUrgent ? 'warning' : 'note';
  const lines = restAccountsOf(config).map(
    (account) => `${configFile}: ${severity}: account ${account}: ${message}: ${remedy}\n`,
  );
  return isUrgent ? { notes: [], warnings: lines } : { notes: lines, warnings: [] };
}

async function checkOnline(config: Config, platform: Platform): Promise<Outcome> {
  const discovered = await discoverAccounts(config, platform, 'check');
  const lines: string[] = [];
  for (const {
    account,
    discovery,
    selected,
    missing,
    pendingIds,
    failure,
    hostless,
    visible,
  } of discovered) {
    const ids = accountIdFindings(account, visible);
    platform.stderr.write(ids.errors);
    if (failure !== undefined) {
      platform.stderr.write(`account ${account.name}: discovery failed: ${failure}\n`);
      continue;
    }
    lines.push(
      `account ${account.name}: key accepted, ` +
        `${countOf(discovery.applications.length, 'application')} found, ${selected.length} chosen\n${ids.notes}`,
    );
    for (const selector of missing) {
      platform.stderr.write(
        `account ${account.name}: ${selector} matches nothing: correct the entry under apps, ` +
          'or use a key of the account that has it\n',
      );
    }
    if (pendingIds.length > 0) {
      platform.stderr.write(
        `account ${account.name}: ${countOf(pendingIds.length, 'more id')} not found so far: correct ` +
          'the entries named above, and check again\n',
      );
    }
    platform.stderr.write(hostlessText(account, hostless));
  }
  const isGood = discovered.every(
    ({ account, failure, missing, pendingIds, hostless, visible }) =>
      failure === undefined &&
      accountIdFindings(account, visible).errors === '' &&
      missing.length === 0 &&
      pendingIds.length === 0 &&
      hostless.every((one) => one.failure === undefined),
  );
  return { exitCode: isGood ? 0 : 1, output: lines.join('') };
}

/** Not an error: the check may run on another host, or before the agent has started. */
function hostlessText(account: AccountConfig, hostless: DiscoveredAccount['hostless']): string {
  return hostless
    .map(({ application, wanted, failure }) => {
      const subject = `account ${account.name}: application ${application.id}`;
      const names = wanted.map((name) => JSON.stringify(name)).join(' or ');
      return failure === undefined
        ? `${subject} has no host ${names} so far, as hosts: self wants: it appears some minutes ` +
            'after its agent has started; --host-name gives another name\n'
        : `${subject}: the host ${names} could not be looked for: ${failure}\n`;
    })
    .join('');
}

async function unreadableFiles(config: Config, platform: Platform): Promise<readonly string[]> {
  const problems = await Promise.all(
    config.accounts.flatMap((account) => [
      problemOf(account, async () => readApiKey(account.apiKey, platform)),
      problemOf(account, async () =>
        account.caFile === undefined ? undefined : readCaFile(account.caFile, platform),
      ),
    ]),
  );
  return problems.flat();
}

async function problemOf(
  { name }: AccountConfig,
  read: () => Promise<unknown>,
): Promise<readonly string[]> {
  try {
    await read();
    return [];
  } catch (error) {
    if (error instanceof KeyError || error instanceof CaFileError) {
      return [`account ${name}: ${error.message}`];
    }
    throw error;
  }
}
