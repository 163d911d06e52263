import { splitWords } from '../cli/arguments.ts';
import { flagTable } from '../cli/flag-table.ts';
import {
  type Environment,
  environmentVariableOf,
  type Flag,
  isFor,
  textFrom,
} from '../cli/flags.ts';

/** A flag of the daemon, and where its value comes from. */
export interface FlagSetting {
  /** Without the leading dashes. */
  readonly name: string;
  /** As it is written; several values of one flag are separated by commas. */
  readonly value: string;
  readonly origin: 'flag' | 'environment' | 'default';
  /** The environment variable of the flag, whether it is set or not. */
  readonly variable: string;
}

const flags: readonly Flag<unknown>[] = Object.values(flagTable);

/** The flags that `serve` would follow with the same arguments and environment. */
export function flagSettings(argv: readonly string[], env: Environment): readonly FlagSetting[] {
  const { options } = splitWords(argv);
  return flags
    .filter((flag) => isFor(flag, 'serve'))
    .map((flag): FlagSetting => {
      const { name, defaultText } = flag;
      const variable = environmentVariableOf(flag);
      const given = options.filter((option) => option.name === name);
      if (given.length > 0) {
        const value = given.map((option) => option.value ?? 'true').join(',');
        return { name, value, origin: 'flag', variable };
      }
      const text = textFrom(env[variable])?.trim();
      return text === undefined
        ? { name, value: defaultText, origin: 'default', variable }
        : { name, value: text, origin: 'environment', variable };
    });
}

/** The origin of a value in a few words. */
export function flagOriginText({ origin, variable }: FlagSetting): string {
  return origin === 'environment' ? `environment ${variable}` : origin;
}
