import { compileConfig } from '../config/compile-config.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { Config } from '../model/config.ts';
import { type ListedApplication, listText } from './discover-text.ts';
import { flagTable } from './flag-table.ts';
import type { Flags } from './flags.ts';
import { loadForCommand, renderWarnings } from './load.ts';
import type { Machine } from './machine.ts';
import type { Outcome } from './one-shot.ts';
import { type DiscoveredAccount, discoverAccounts } from './online-discovery.ts';

/** One account, with the key in the usual variable: for who has no configuration yet. */
const withoutFile = 'apps: [{ match: "." }]';

/**
 * Prints all applications of the accounts that have entries, whatever those choose. 1 if an account
 * could not be discovered; what was found of it is printed all the same.
 */
export async function discover(flags: Flags, machine: Machine): Promise<Outcome> {
  const config = await configOf(flags, machine);
  const discovered = await discoverAccounts(config, machine, 'list');
  const failed = discovered.filter(({ failure }) => failure !== undefined);
  for (const { account, failure } of failed) {
    machine.stderr.write(`account ${account.name}: discovery failed: ${failure}\n`);
  }
  const output = listText(discovered.flatMap(applicationsOf), flags.output);
  return { exitCode: failed.length === 0 ? 0 : 1, output };
}

async function configOf({ configFile }: Flags, machine: Machine): Promise<Config> {
  if (configFile === flagTable.configFile.defaultText && (await isAbsent(configFile, machine))) {
    const parsed = await parseConfig(withoutFile, { fileName: configFile, directory: '/' });
    return compileConfig(parsed.config, machine);
  }
  const { config, warnings } = await loadForCommand(configFile, machine);
  machine.stderr.write(renderWarnings(warnings));
  return config;
}

async function isAbsent(path: string, { readFile }: Machine): Promise<boolean> {
  try {
    await readFile(path);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

function applicationsOf({ account, discovery }: DiscoveredAccount): readonly ListedApplication[] {
  return discovery.applications.map(({ id, name, language, reporting, hostIds }) => ({
    account: account.name,
    id,
    name,
    language,
    reporting,
    hosts: hostIds?.length,
  }));
}
