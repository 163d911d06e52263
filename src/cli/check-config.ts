import { KeyError, readApiKey } from '../config/api-key.ts';
import type { Config } from '../model/config.ts';
import { CommandError, type ExitCode } from './exit-code.ts';
import type { Flags } from './flags.ts';
import { loadForCommand, renderWarnings } from './load.ts';
import type { Machine } from './machine.ts';

/**
 * Checks the file and that every API key it names can be read, without asking the vendor. Prints
 * all that is wrong, and what is only doubtful, and says which file was good.
 */
export async function checkConfig(flags: Flags, machine: Machine): Promise<ExitCode> {
  const { config, warnings } = await loadForCommand(flags.configFile, machine);
  machine.stderr.write(renderWarnings(warnings));
  const keyProblems = await unreadableKeys(config, machine);
  if (keyProblems.length > 0) {
    throw new CommandError(
      2,
      keyProblems.map((problem) => `${flags.configFile}: ${problem}`).join('\n'),
    );
  }
  const { accounts, apps } = config;
  machine.stdout.write(
    `${flags.configFile}: ok, ${count(accounts.length, 'account')}, ` +
      `${count(apps.length, 'entry', 'entries')} of apps, ${count(warnings.length, 'warning')}\n`,
  );
  return 0;
}

async function unreadableKeys(config: Config, machine: Machine): Promise<readonly string[]> {
  const problems = await Promise.all(
    config.accounts.map(async (account): Promise<readonly string[]> => {
      try {
        await readApiKey(account.apiKey, machine);
        return [];
      } catch (error) {
        if (error instanceof KeyError) return [`account ${account.name}: ${error.message}`];
        throw error;
      }
    }),
  );
  return problems.flat();
}

function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
