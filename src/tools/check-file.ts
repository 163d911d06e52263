import { compileConfig } from '../config/compile-config.ts';
import { ConfigError, type Diagnostic } from '../config/diagnostic.ts';
import { type InspectedConfig, inspectConfig } from '../config/inspect-config.ts';
import { readConfigFile } from '../config/load-config.ts';
import { namedFileProblems } from '../config/named-files.ts';
import type { Platform } from '../daemon/platform.ts';
import type { Config } from '../model/config.ts';

/** What a check of the configuration file, and of the files that it names, has found. */
export interface CheckedFile {
  /** In the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
  /** How many of them are errors. */
  readonly errors: number;
  /** The configuration, if there are no errors. */
  readonly good: { readonly config: Config; readonly file: InspectedConfig } | undefined;
  /** If nothing is wrong but that accounts with NerdGraph have no id: these accounts. */
  readonly withoutId: InspectedConfig['withoutId'];
}

/** Checks the file and everything that it names, so that all mistakes come to light in one run. */
export async function checkFile(path: string, platform: Platform): Promise<CheckedFile> {
  let file: InspectedConfig;
  try {
    const { text, ...source } = await readConfigFile(path, platform);
    file = await inspectConfig(text, source);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { diagnostics } = error;
    return { diagnostics, errors: diagnostics.length, good: undefined, withoutId: [] };
  }
  const named = await namedFileProblems(file.files, platform);
  const diagnostics = file.diagnose([...file.errors, ...file.warnings, ...named]);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const { config, withoutId } = file;
  if (config === undefined || errors > 0)
    return { diagnostics, errors, good: undefined, withoutId };
  return {
    diagnostics,
    errors,
    good: { config: await compileConfig(config, platform), file },
    withoutId,
  };
}
