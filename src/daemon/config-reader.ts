import { compileConfig } from '../config/compile-config.ts';
import { ConfigError, firstOf, type ShownDiagnostics } from '../config/diagnostic.ts';
import { type ConfigFile, readConfigFile } from '../config/load-config.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { Config } from '../model/config.ts';
import type { PlainParsed } from './parse-for-parent.ts';
import { CommandError, type Platform } from './platform.ts';

/** A configuration as it stands in the file, ready for use. */
export interface ReadConfig {
  readonly config: Config;
  readonly warnings: ShownDiagnostics;
  /** Of the bytes that it was read from. */
  readonly digest: string;
}

export interface ConfigReader {
  /**
   * Reads the file. What these very bytes have come to before is not worked out again, be it good or
   * bad; so it costs little to try a file again and again. Rejects with a `ConfigError` or a
   * `CommandError`.
   *
   * @param isAsked whether somebody waits for it: then a thread that failed is started again at once
   */
  read(isAsked: boolean): Promise<ReadConfig>;
  /** Frees what is remembered. */
  forget(): void;
}

type Outcome =
  | { readonly kind: 'good'; readonly read: ReadConfig }
  /** The text is wrong, and will be as long as it is the same. */
  | { readonly kind: 'refused'; readonly error: ConfigError | CommandError }
  /** The text could not be looked at, for want of memory or time. */
  | { readonly kind: 'failed'; readonly error: CommandError; readonly atMs: number };

/** A thread that cannot be had takes its time and memory again each time it is tried. */
const failedForMs = 60_000;

/** Reads one configuration file, again and again. The first time nothing else goes on: no thread. */
export function createConfigReader(path: string, platform: Platform): ConfigReader {
  const { clock } = platform;
  let parse = parseHere;
  let known: { readonly digest: string; readonly outcome: Outcome } | undefined;

  const isStillTrue = (outcome: Outcome, isAsked: boolean): boolean =>
    outcome.kind !== 'failed' || (!isAsked && clock.monotonicMs() - outcome.atMs < failedForMs);
  const outcomeOf = async (file: ConfigFile): Promise<Outcome> => {
    const parser = parse;
    parse = platform.parseConfig;
    try {
      const { config: plain, warnings } = await parser(file);
      const config = await compileConfig(plain, platform);
      return { kind: 'good', read: { config, warnings, digest: file.digest } };
    } catch (error) {
      if (error instanceof ConfigError) return { kind: 'refused', error };
      if (!(error instanceof CommandError)) throw error;
      if (error.exitCode === 2) return { kind: 'refused', error };
      return { kind: 'failed', error, atMs: clock.monotonicMs() };
    }
  };

  return {
    read: async (isAsked) => {
      const file = await readConfigFile(path, platform);
      const isKnown = known?.digest === file.digest && isStillTrue(known.outcome, isAsked);
      const outcome = known !== undefined && isKnown ? known.outcome : await outcomeOf(file);
      known = { digest: file.digest, outcome };
      if (outcome.kind !== 'good') throw outcome.error;
      return outcome.read;
    },
    forget: () => {
      known = undefined;
    },
  };
}

async function parseHere(file: ConfigFile): Promise<PlainParsed> {
  const { config, warnings } = await parseConfig(file.text, file);
  return { config, warnings: firstOf(warnings) };
}
