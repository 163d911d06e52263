import { parseListenAddress } from '../server/listen-address.ts';
import type { LogFormat, LogLevel } from '../telemetry/logger.ts';

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

export const outputFormats = ['text', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The values of all flags, with every default applied. */
export interface Flags {
  readonly configFile: string;
  /** How often the configuration file is looked at for changes; 0 is never. */
  readonly autoReloadIntervalMs: number;
  /** Whether the daemon runs without a usable configuration, and waits for one. */
  readonly configWait: boolean;
  /** Whether `POST /-/reload` is there. */
  readonly enableLifecycle: boolean;
  /** Whether the daemon runs as a child process that is started again whenever it ends. */
  readonly respawn: boolean;
  /** Each of the form `[host]:port`. */
  readonly listenAddresses: readonly string[];
  readonly telemetryPath: string;
  readonly maxRequests: number;
  /** This process' number among `totalShards`; `auto`: the one that its pod name ends in. */
  readonly shard: number | 'auto';
  readonly totalShards: number;
  /** The name of this host in New Relic; empty: that of the pod or of the machine. */
  readonly hostName: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** Whether the command asks the vendor. */
  readonly online: boolean;
  readonly output: OutputFormat;
  readonly planApplicationsPerMatch: number;
  readonly planHostsPerApplication: number;
  /** Processes with the same configuration and the same keys that a plan is for. */
  readonly replicas: number;
  readonly demoApplications: number;
  readonly demoHosts: number;
  readonly demoPort: number;
  readonly healthcheckUrl: string;
}

/** Which values a flag may have. */
export interface ValueRule<Value> {
  /** What a value must look like, to follow "expected". */
  readonly expected: string;
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
    parse: (text) => words.find((word) => word === text),
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

export const hostName: ValueRule<string> = {
  expected: 'the name of a host, such as checkout-7d4b9c-x2x8q',
  parse: (text) => (/^[^\s\p{Cc}]{0,255}$/u.test(text) ? text : undefined),
};

export const httpUrl: ValueRule<string> = {
  expected: 'an address such as http://127.0.0.1:9126/-/healthy',
  parse: (text) =>
    /^http:\/\/[^\s/@]+(?:\/\S*)?$/.test(text) && URL.canParse(text) ? text : undefined,
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
const reservedSegments: ReadonlySet<string> = new Set(['-', 'api', 'config']);

export function telemetryPath(text: string): string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  // HTTP clients resolve these before they ask, so the page would not be found.
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return reservedSegments.has(segments[0] ?? '') ? undefined : text;
}
