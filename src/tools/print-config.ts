import type { FlagSetting } from '../cli/arguments.ts';
import type { Flags } from '../cli/flag-table.ts';
import { environmentVariableOf } from '../cli/flags.ts';
import { type Outcome } from '../cli/one-shot.ts';
import {
  type AnnotatedConfig,
  annotatedConfig,
  annotatedText,
  type Origin,
} from '../config/annotated-config.ts';
import { renderDiagnostics } from '../config/diagnostic.ts';
import { inspectConfig, readConfigFile } from '../config/load-config.ts';
import { orCommandError, renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type ToolPlatform } from '../daemon/platform.ts';
import { printable } from '../model/line-text.ts';

export interface PrintConfigOptions {
  readonly flags: Flags;
  readonly settings: readonly FlagSetting[];
}

/**
 * Prints the configuration with every default applied, as a file that means the same, and the flags that
 * `serve` would have, each value with its origin. Keys are no part of it, and logins of proxies are
 * redacted. The key files need not be there.
 */
export async function printConfig(
  { flags, settings: all }: PrintConfigOptions,
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
  platform.stderr.write(renderWarnings(file.diagnose(warnings)));
  const annotated = annotatedConfig(config, file);
  const settings = all.filter(({ flag }) => flag.commands.includes('serve'));
  const output =
    flags.output === 'json'
      ? documentOf(configFile, annotated, settings)
      : annotatedText(annotated, headerOf(settings));
  return { exitCode: 0, output: platform.redactor.redact(output) };
}

function headerOf(settings: readonly FlagSetting[]): string {
  const lines = [
    'The configuration with all defaults. Behind each value is its origin: a line of the file, or default.',
    'The flags of serve:',
    ...settings.map(
      (setting) =>
        `  --${setting.flag.name}=${printable(textOf(setting))}  (${originText(setting)})`,
    ),
  ];
  return lines.map((line) => ` ${line}`).join('\n');
}

/** As it is written; several values of one flag are separated by commas. */
function textOf({ texts }: FlagSetting): string {
  return texts.join(',');
}

function originText({ flag, origin }: FlagSetting): string {
  return origin === 'environment' ? `environment ${environmentVariableOf(flag)}` : origin;
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
    flags: settings.map((setting) => ({
      name: setting.flag.name,
      value: textOf(setting),
      origin: setting.origin,
      variable: environmentVariableOf(setting.flag),
    })),
  };
  return `${JSON.stringify(document, withoutBigInts, 2)}\n`;
}

function withoutBigInts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
