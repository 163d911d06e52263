import { looksLikeKey } from '../model/key-text.ts';
import { isShardAddress } from '../model/shard-address.ts';
import { type Problems, UsageError } from './usage-error.ts';

export const commands = [
  'serve',
  'check-config',
  'plan',
  'discover',
  'metrics',
  'compare',
  'once',
  'demo',
  'simulate',
  'healthcheck',
  'print-config',
  'config-schema',
] as const;
export type Command = (typeof commands)[number];

/** One flag: what parsing, its environment variable and the help are made from. */
export interface Flag<Value> extends ValueRule<Value> {
  /** Without the leading dashes. */
  readonly name: string;
  /** The letter that may stand for the name, after one dash. */
  readonly short?: string;
  /** Another name for it; flags of different commands may share one. */
  readonly alias?: string;
  /** The default, as a user would write it. */
  readonly defaultText: string;
  /** Sentences for the help; the default and the environment variable are added to it. */
  readonly help: string;
  readonly isRepeatable?: true;
  /** Takes no value: given, it is `true`. */
  readonly isSwitch?: true;
  /** Its value where it is given without one, as `--name`; another value then needs `--name=VALUE`. */
  readonly bareText?: string;
  readonly commands: readonly Command[];
}

/** A flag that may be given several times; in its environment variable values are separated by commas. */
export interface RepeatableFlag<Value> extends Flag<Value> {
  readonly isRepeatable: true;
}

/** Whether a command knows the flag. `print-config` knows all flags of the daemon, to show them. */
export function isFor(flag: Pick<Flag<unknown>, 'commands'>, command: Command): boolean {
  const isShown = command === 'print-config' && flag.commands.includes('serve');
  return isShown || flag.commands.includes(command);
}

/** The environment variable that stands for the flag: `NEWRELIC_EXPORTER_CONFIG_FILE`. */
export function environmentVariableOf(flag: Pick<Flag<unknown>, 'name'>): string {
  return `NEWRELIC_EXPORTER_${flag.name.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}

export const outputFormats = ['text', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The values of the flags of a table, with every default applied. */
export type FlagValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends RepeatableFlag<infer Value>
    ? readonly Value[]
    : Table[Name] extends Flag<infer Value>
      ? Value
      : never;
};

/** The values that a flag may have. */
export interface ValueRule<Value> {
  /** What a value must look like, to follow "expected". */
  readonly expected: string;
  /** What is wrong with a value that is not allowed, if there is more to say than what was expected. */
  problem?(text: string): string | undefined;
  /** `undefined` for a value that is not allowed. */
  parse(text: string): Value | undefined;
}

export const onOrOff: ValueRule<boolean> & { readonly isSwitch: true } = {
  expected: 'no value, or true or false',
  isSwitch: true,
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

export function oneOf<Word extends string>(words: readonly Word[]): ValueRule<Word> {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse: (text) => words.find((word) => word === text.toLowerCase()),
  };
}

export function wholeNumber(least: number, most: number): ValueRule<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      if (!/^\d{1,9}$/.test(text)) return undefined;
      const number = Number(text);
      return number >= least && number <= most ? number : undefined;
    },
  };
}

export const shardNumber: ValueRule<number | 'auto'> = {
  expected: 'a whole number from 0 to 999, or auto',
  parse: (text) => (text === 'auto' ? text : wholeNumber(0, 999).parse(text)),
};

export const shardAddress: ValueRule<string> = {
  expected:
    'host:port with {shard} in it, such as newrelic-exporter-{shard}.newrelic-exporter:9126',
  parse: (text) => (text === '' || isShardAddress(text) ? text : undefined),
};

/** The text in quotes, on one line, without anything that looks like a key or the login of a URL. */
export function quote(text: string): string {
  const masked = text.replace(looksLikeKey, '[redacted]').replace(/\/\/[^/]*@/g, '//[redacted]@');
  return JSON.stringify(masked);
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** One `--name=value`, as it was written. */
export interface Option {
  readonly name: string;
  readonly value: string | undefined;
  /** False for a value that is the argument after the flag. */
  readonly isInline: boolean;
  /** The whole argument up to `=`. */
  readonly written: string;
}

/**
 * The values of all flags of a table for a command: as given, else from the environment variable, else
 * the default. Values that are not allowed are added to the problems.
 */
export function readFlags<Table extends Readonly<Record<string, Flag<unknown>>>>(
  table: Table,
  command: Command,
  {
    options,
    env,
    problems,
  }: {
    readonly options: readonly Option[];
    readonly env: Environment;
    readonly problems: Problems;
  },
): FlagValues<Table> {
  // Untyped pairs: Object.fromEntries cannot give each name the type of its value.
  const values: readonly (readonly unknown[])[] = Object.entries(table).map(([name, flag]) => {
    const all = problems.collect(() => valuesOf(flag, command, options, env)) ?? [];
    return [name, flag.isRepeatable === true ? all : all.at(-1)];
  });
  return Object.fromEntries(values);
}

function valuesOf(
  flag: Flag<unknown>,
  command: Command,
  options: readonly Option[],
  env: Environment,
): readonly unknown[] {
  const given = options.filter(({ name }) => name === flag.name);
  if (given.length > 0) {
    return distinct(
      `--${flag.name}`,
      // A flag that lacks its value is reported as such.
      given.flatMap(({ value = bareTextOf(flag) }) =>
        value === undefined ? [] : [parseValue(flag, `--${flag.name}`, value)],
      ),
    );
  }
  const variable = environmentVariableOf(flag);
  const text = isFor(flag, command) ? textFrom(env[variable]) : undefined;
  if (text === undefined) return [parseValue(flag, `--${flag.name}`, flag.defaultText)];
  const texts = flag.isRepeatable === true ? splitList(variable, text) : [text.trim()];
  return distinct(
    variable,
    texts.map((part) => parseValue(flag, variable, part)),
  );
}

/** The value of a flag that is given without one; `undefined` if it must have one. */
export function bareTextOf({
  isSwitch,
  bareText,
}: Pick<Flag<unknown>, 'isSwitch' | 'bareText'>): string | undefined {
  return isSwitch === true ? 'true' : bareText;
}

function splitList(variable: string, text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.includes('')) return parts;
  throw new UsageError(
    `${variable}: ${quote(text)} has a comma with no value beside it: remove the comma`,
  );
}

/** Repeated values are refused, except port 0: for that the system chooses different ports. */
function distinct<Value>(origin: string, values: readonly Value[]): readonly Value[] {
  const repeated = values.find(
    (value, index) => values.indexOf(value) !== index && !String(value).endsWith(':0'),
  );
  if (repeated === undefined) return values;
  throw new UsageError(`${origin}: ${quote(String(repeated))} is given more than once`);
}

/** An empty variable counts as not set. */
export function textFrom(variable: string | undefined): string | undefined {
  if (variable === undefined || variable.trim() === '') return undefined;
  // Kubernetes sets NEWRELIC_EXPORTER_DEMO_PORT=tcp://... beside a service newrelic-exporter-demo.
  return variable.startsWith('tcp://') ? undefined : variable;
}

function parseValue<Value>(flag: Flag<Value>, origin: string, text: string): Value {
  const value = flag.parse(text);
  if (value === undefined) {
    const problem = flag.problem?.(text);
    throw new UsageError(
      problem === undefined
        ? `${origin}: ${quote(text)} is not valid: expected ${flag.expected}`
        : `${origin}: ${problem}`,
    );
  }
  return value;
}
