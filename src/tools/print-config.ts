import type { Flags } from '../cli/flag-table.ts';
import { type Outcome } from '../cli/one-shot.ts';
import {
  type AnnotatedConfig,
  annotatedConfig,
  annotatedText,
  type Origin,
} from '../config/annotated-config.ts';
import { renderDiagnostics } from '../config/diagnostic.ts';
import { inspectConfig } from '../config/inspect-config.ts';
import { readConfigFile } from '../config/load-config.ts';
import { orCommandError, renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import { printable } from '../model/line-text.ts';
import { type FlagSetting, flagOriginText, flagSettings } from './flag-settings.ts';

export interface PrintConfigOptions {
  readonly argv: readonly string[];
  /** The flags of `argv` and of the environment. */
  readonly flags: Flags;
}

/**
 * Prints the configuration with every default applied, as a file that means the same, and the flags that
 * `serve` would have, each value with its origin. Keys are no part of it, and logins of proxies are
 * redacted. The key files need not be there.
 */
export async function printConfig(
  { argv, flags }: PrintConfigOptions,
  platform: Platform,
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
  platform.stderr.write(renderWarnings(file.diagnose(warnings)));
  const annotated = annotatedConfig(config, file);
  const settings = settingsOf(argv, flags, platform);
  const output =
    flags.output === 'json'
      ? documentOf(configFile, annotated, settings)
      : annotatedText(annotated, headerOf(settings));
  return { exitCode: 0, output: platform.redactor.redact(output) };
}

/** The file may also be given as an operand. */
function settingsOf(
  argv: readonly string[],
  { configFile }: Pick<Flags, 'configFile'>,
  { env }: Pick<Platform, 'env'>,
): readonly FlagSetting[] {
  return flagSettings(argv, env).map((setting) =>
    setting.name === 'config.file' && setting.value !== configFile
      ? { ...setting, value: configFile, origin: 'flag' }
      : setting,
  );
}

function headerOf(settings: readonly FlagSetting[]): string {
  const lines = [
    'The configuration with all defaults. Behind each value is its origin: a line of the file, or default.',
    'The flags of serve:',
    ...settings.map(
      (setting) => `  --${setting.name}=${printable(setting.value)}  (${flagOriginText(setting)})`,
    ),
  ];
  return lines.map((line) => ` ${line}`).join('\n');
}

function originDocument(origin: Origin): Readonly<Record<string, unknown>> {
  if (origin === 'default') return { kind: 'default' };
  const { fileName: file, line, column } = origin;
  return { kind: 'file', file, line, column };
}

/** The document for machines. Its fields stay as they are. */
function documentOf(
  file: string,
  { config, values }: AnnotatedConfig,
  settings: readonly FlagSetting[],
): string {
  const document = {
    file,
    config,
    values: values.map(({ path, value, origin }) => ({
      path,
      value,
      origin: originDocument(origin),
    })),
    flags: settings,
  };
  return `${JSON.stringify(document, withoutBigInts, 2)}\n`;
}

function withoutBigInts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
