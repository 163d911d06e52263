import { renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { loadWebForCommand } from '../daemon/web-access.ts';
import type { Flags } from './flag-table.ts';
import { countOf, type Outcome } from './one-shot.ts';

/**
 * Checks the web configuration file as well, if one is named: its problems come after those of the
 * configuration, in the same run.
 */
export async function withWebConfig(
  { webConfigFile }: Flags,
  platform: Platform,
  checkConfig: () => Promise<Outcome>,
): Promise<Outcome> {
  if (webConfigFile === '') return checkConfig();
  const [main, web] = await Promise.all([
    outcomeOf(checkConfig()),
    outcomeOf(checkWebConfig(webConfigFile, platform)),
  ]);
  if (!(main instanceof CommandError) && !(web instanceof CommandError)) {
    return { exitCode: main.exitCode, output: main.output + web };
  }
  const failures = [main, web].filter((result) => result instanceof CommandError);
  throw new CommandError(2, failures.map(({ message }) => message).join('\n'));
}

async function outcomeOf<Value>(result: Promise<Value>): Promise<Value | CommandError> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** What is good about the file. */
async function checkWebConfig(path: string, platform: Platform): Promise<string> {
  const { config, warnings } = await loadWebForCommand(path, platform);
  platform.stderr.write(renderWarnings(warnings));
  const tls = config.tls === undefined ? 'no TLS' : 'TLS';
  const users = countOf(config.users.size, 'user');
  return `${path}: ok, ${tls}, ${users}, ${countOf(warnings.length, 'warning')}\n`;
}
