import type { FlagSetting } from '../cli/arguments.ts';
import type { Flags } from '../cli/flag-table.ts';
import { environmentVariableOf } from '../cli/flags.ts';
import { type Outcome } from '../cli/one-shot.ts';
import { readConfigFile } from '../config/config-file.ts';
import { renderDiagnostics } from '../config/diagnostic.ts';
import { effectiveConfigText } from '../config/effective-config.ts';
import { inspectConfig } from '../config/load-config.ts';
import { orCommandError } from '../daemon/config-files.ts';
import { CommandError, type ToolPlatform } from '../daemon/platform.ts';
import { printable } from '../model/shown-text.ts';
import { showWarnings } from './survey/ask.ts';

/**
 * Prints the configuration with every default applied, as a file that means the same, and the flags that
 * `serve` would have, each with its origin. Keys are no part of it, and logins of proxies are
 * redacted. The key files need not be there.
 *
 * @param all the flags of the command
 */
export async function printConfig(
  flags: Flags,
  all: readonly FlagSetting[],
  platform: ToolPlatform,
): Promise<Outcome> {
  const { configFile } = flags;
  const { text, ...source } = await orCommandError(async () =>
    readConfigFile(configFile, platform),
  );
  const file = await inspectConfig(text, source);
  const { config, errors, warnings } = file;
  if (config === undefined || errors.length > 0) {
    throw new CommandError(2, renderDiagnostics(file.diagnose(errors)));
  }
  showWarnings(file.diagnose(warnings), platform);
  const settings = all.filter(({ flag }) => flag.commands.includes('serve'));
  const output = `${headerOf(settings)}\n${effectiveConfigText(config)}`;
  return { exitCode: 0, output: platform.redactor.redact(output) };
}

function headerOf(settings: readonly FlagSetting[]): string {
  const lines = [
    'The flags of serve, and the configuration with all defaults:',
    ...settings.map(
      (setting) =>
        `  --${setting.flag.name}=${printable(setting.texts.join(','))}  (${originText(setting)})`,
    ),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

function originText({ flag, origin }: FlagSetting): string {
  return origin === 'environment' ? `environment ${environmentVariableOf(flag)}` : origin;
}
