import { KeyError, readApiKey } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import type { AccountConfig, Config } from '../model/config.ts';
import { CommandError, type ExitCode } from './exit-code.ts';
import type { Flags } from './flags.ts';
import { loadForCommand, renderWarnings } from './load.ts';
import type { Machine } from './machine.ts';

/**
 * Checks the file and the key and CA files that it names, without asking the vendor. Prints
 * all that is wrong, and what is only doubtful, and says which file was good.
 */
export async function checkConfig(flags: Flags, machine: Machine): Promise<ExitCode> {
  const { config, warnings } = await loadForCommand(flags.configFile, machine);
  machine.stderr.write(renderWarnings(warnings));
  const fileProblems = await unreadableFiles(config, machine);
  if (fileProblems.length > 0) {
    throw new CommandError(
      2,
      fileProblems.map((problem) => `${flags.configFile}: ${problem}`).join('\n'),
    );
  }
  const { accounts, apps } = config;
  machine.stdout.write(
    `${flags.configFile}: ok, ${count(accounts.length, 'account')}, ` +
      `${count(apps.length, 'entry', 'entries')} of apps, ${count(warnings.length, 'warning')}\n`,
  );
  return 0;
}

async function unreadableFiles(config: Config, machine: Machine): Promise<readonly string[]> {
  const problems = await Promise.all(
    config.accounts.flatMap((account) => [
      problemOf(account, async () => readApiKey(account.apiKey, machine)),
      problemOf(account, async () =>
        account.caFile === undefined ? undefined : readCaFile(account.caFile, machine),
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

function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
