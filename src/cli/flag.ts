import type { ValueRule } from './flag-values.ts';

export const commands = [
  'serve',
  'check-config',
  'plan',
  'discover',
  'once',
  'demo',
  'healthcheck',
  'config-schema',
] as const;
export type Command = (typeof commands)[number];

/** One flag: the single source for parsing, for its environment variable and for the help. */
export interface Flag<Value> extends ValueRule<Value> {
  /** Without the leading dashes. */
  readonly name: string;
  /** The letter that may stand for the name, after one dash. */
  readonly short?: string;
  /** The default, as a user would write it. */
  readonly defaultText: string;
  /** Sentences for the help; the default and the environment variable are added to it. */
  readonly help: string;
  readonly isRepeatable: boolean;
  /** Takes no value: given, it is `true`. */
  readonly isSwitch?: true;
  readonly commands: readonly Command[];
}

/** The environment variable that stands for the flag: `NEWRELIC_EXPORTER_CONFIG_FILE`. */
export function environmentVariableOf(flag: Pick<Flag<unknown>, 'name'>): string {
  return `NEWRELIC_EXPORTER_${flag.name.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}
