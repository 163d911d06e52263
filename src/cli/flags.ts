import { parseDuration } from '../config/duration.ts';
import { redacted, withoutKeys } from '../model/key-text.ts';
import { controls } from '../model/shown-text.ts';
import { parseListenAddress } from '../web/listen-address.ts';
import type { Command } from './commands.ts';

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
  /** Sentences for the help, if need be of each command; the default and the environment variable are added. */
  readonly help: string | Readonly<Partial<Record<Command, string>>>;
  readonly isRepeatable?: true;
  /** Its value where it is given without one, as `--name`; another value then needs `--name=VALUE`. */
  readonly bareText?: string;
  readonly commands: readonly Command[];
}

/** A flag that may be given several times; in its environment variable values are separated by commas. */
export interface RepeatableFlag<Value> extends Flag<Value> {
  readonly isRepeatable: true;
}

/** Whether a command knows the flag. `print-config` knows all flags of the daemon, to show them. */
export function isFor(flag: Flag<unknown>, command: Command): boolean {
  const isShown = command === 'print-config' && flag.commands.includes('serve');
  return isShown || flag.commands.includes(command);
}

/** Commands that a service manager or a container runs, where a variable is easier to set than a flag. */
const unattended: ReadonlySet<Command> = new Set(['serve', 'demo', 'simulate', 'healthcheck']);

/**
 * The environment variable that stands for the flag: `NEWRELIC_EXPORTER_CONFIG_FILE`. `undefined` if only
 * commands know the flag that people type.
 */
export function environmentVariableOf(
  flag: Pick<Flag<unknown>, 'name' | 'commands'>,
): string | undefined {
  if (!flag.commands.some((command) => unattended.has(command))) return undefined;
  return `NEWRELIC_EXPORTER_${flag.name.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}

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
  /** `undefined` for a value that is not allowed. */
  parse(text: string): Value | undefined;
}

/** The same with the default that such flags have. */
type UsualRule<Value> = ValueRule<Value> & Pick<Flag<Value>, 'defaultText' | 'bareText'>;

export const onOrOff: UsualRule<boolean> = {
  defaultText: 'false',
  bareText: 'true',
  expected: 'no value, or true or false',
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

/** A path; empty for none. */
export const filePath: UsualRule<string> = {
  defaultText: '',
  expected: 'the path of a file',
  parse: (text) => text,
};

/** Milliseconds; `undefined` for what is no duration, or out of range. */
export function durationWithin(leastMs: number, mostMs: number, text: string): number | undefined {
  return parseDuration(text, { minMs: leastMs, maxMs: mostMs });
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch; 0 for none. */
export const pointInTime: UsualRule<number> = {
  defaultText: '',
  expected: 'a point in time such as 2026-11-01T00:00:00Z',
  parse: (text) => {
    if (text === '') return 0;
    const timeMs = timePattern.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(timeMs) ? undefined : timeMs;
  },
};

export const shardNumber: ValueRule<number | 'auto'> = {
  expected: 'a whole number from 0 to 999, or auto',
  parse: (text) => (text === 'auto' ? text : wholeNumber(0, 999).parse(text)),
};

const anyTextPattern = new RegExp(`^[^${controls}]{0,255}$`, 'u');
const hostNamePattern = new RegExp(`^[^\\s${controls}]{0,255}$`, 'u');

/** A text on one line, of a length that fits into an address. */
export function anyText(expected: string): UsualRule<string> {
  return {
    defaultText: '',
    expected,
    parse: (text) => (anyTextPattern.test(text) ? text : undefined),
  };
}

export const hostName: ValueRule<string> = {
  expected: 'the name of a host, such as checkout-7d4b9c-x2x8q',
  parse: (text) => (hostNamePattern.test(text) ? text : undefined),
};

export const httpUrl: ValueRule<string> = {
  expected: 'an address such as http://127.0.0.1:9126/-/healthy',
  parse: (text) =>
    /^https?:\/\/[^\s/@]+(?:\/\S*)?$/.test(text) && URL.canParse(text) ? text : undefined,
};

export function listenAddress(text: string): string | undefined {
  try {
    parseListenAddress(text);
    return text;
  } catch {
    return undefined;
  }
}

/** First segments of the paths that serve something else; `/` itself is the status page. */
const reservedSegments: ReadonlySet<string> = new Set([
  '-',
  'api',
  'applications',
  'config',
  'status.js',
]);

export function telemetryPath(text: string): string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  // HTTP clients resolve these before they ask, so the page would not be found.
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return reservedSegments.has(segments[0] ?? '') ? undefined : text;
}

/** The text in quotes, on one line, without anything that looks like a key or the login of a URL. */
export function quote(text: string): string {
  return JSON.stringify(withoutSecrets(text));
}

/** The text without anything that looks like a key or the login of a URL. */
export function withoutSecrets(text: string): string {
  return withoutKeys(text).replace(/\/\/[^/]*@/g, `//${redacted}@`);
}
