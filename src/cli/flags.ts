import { parseDuration } from '../config/duration.ts';
import { parseListenAddress } from '../server/listen-address.ts';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../telemetry/log-options.ts';

export const commands = ['serve', 'check-config', 'once', 'demo', 'config-schema'] as const;
export type Command = (typeof commands)[number];

/** The values of all flags, with every default applied. */
export interface Flags {
  readonly configFile: string;
  /** How often the configuration file is looked at for changes; 0 is never. */
  readonly autoReloadIntervalMs: number;
  /** Whether `POST /-/reload` is there. */
  readonly enableLifecycle: boolean;
  /** Each of the form `[host]:port`. */
  readonly listenAddresses: readonly string[];
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly demoApplications: number;
  readonly demoHosts: number;
  readonly demoPort: number;
}

/** One flag: the single source for parsing, for its environment variable and for the help. */
export interface Flag<Value> {
  /** Without the leading dashes. */
  readonly name: string;
  /** The default, as a user would write it. */
  readonly defaultText: string;
  /** Sentences for the help; the default and the environment variable are added to it. */
  readonly help: string;
  /** What a value must look like, to follow "expected". */
  readonly expected: string;
  readonly isRepeatable: boolean;
  /** Takes no value: given, it is `true`. */
  readonly isSwitch?: true;
  readonly commands: readonly Command[];
  /** `undefined` for a value that is not allowed. */
  parse(text: string): Value | undefined;
}

/** Which flags there are, in the order of the help. A type alias, so that its values can be listed. */
export type FlagTable = {
  readonly configFile: Flag<string>;
  readonly autoReloadInterval: Flag<number>;
  readonly listenAddresses: Flag<string>;
  readonly telemetryPath: Flag<string>;
  readonly maxRequests: Flag<number>;
  readonly enableLifecycle: Flag<boolean>;
  readonly logLevel: Flag<LogLevel>;
  readonly logFormat: Flag<LogFormat>;
  readonly demoApplications: Flag<number>;
  readonly demoHosts: Flag<number>;
  readonly demoPort: Flag<number>;
};

/** The environment variable that stands for the flag: `NEWRELIC_EXPORTER_CONFIG_FILE`. */
export function environmentVariableOf(flag: Pick<Flag<unknown>, 'name'>): string {
  return `NEWRELIC_EXPORTER_${flag.name.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}

const serving: readonly Command[] = ['serve', 'demo'];
const logging: readonly Command[] = ['serve', 'once', 'demo'];

export const flagTable: FlagTable = {
  configFile: {
    name: 'config.file',
    defaultText: 'config.yaml',
    help: 'Configuration file.',
    expected: 'the path of a file',
    isRepeatable: false,
    commands: ['serve', 'check-config', 'once'],
    parse: (text) => (text === '' ? undefined : text),
  },
  autoReloadInterval: {
    name: 'config.auto-reload-interval',
    defaultText: '30s',
    help: 'How often to look whether the configuration file has changed; 0 is never.',
    expected: 'a duration from 1s to 24h, such as 30s, or 0',
    isRepeatable: false,
    commands: ['serve'],
    parse: (text) => {
      if (text === '0') return 0;
      const parsed = parseDuration(text, { minMs: 1000, maxMs: 86_400_000 });
      return parsed.problem === undefined ? parsed.ms : undefined;
    },
  },
  listenAddresses: {
    name: 'web.listen-address',
    defaultText: ':9126',
    help: 'Address to serve on. May be repeated; in the environment variable, separated by commas.',
    expected: '[host]:port, such as :9126, 127.0.0.1:9126 or [::1]:9126',
    isRepeatable: true,
    commands: serving,
    parse: listenAddress,
  },
  telemetryPath: {
    name: 'web.telemetry-path',
    defaultText: '/metrics',
    help: 'Path of the metrics.',
    expected:
      'a path such as /metrics, without a slash at its end and outside of /-/, /api/ and /config',
    isRepeatable: false,
    commands: serving,
    parse: telemetryPath,
  },
  maxRequests: {
    name: 'web.max-requests',
    defaultText: '40',
    help: 'Scrapes answered at the same time; more are refused with 503.',
    ...wholeNumber(1, 10_000),
    isRepeatable: false,
    commands: serving,
  },
  enableLifecycle: {
    name: 'web.enable-lifecycle',
    defaultText: 'false',
    help: 'Allow a reload of the configuration by POST /-/reload.',
    expected: 'no value, or true or false',
    isRepeatable: false,
    isSwitch: true,
    commands: ['serve'],
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
  logLevel: {
    name: 'log.level',
    defaultText: 'info',
    help: 'Least severe messages to log: debug, info, warn or error.',
    ...oneOf(logLevels),
    isRepeatable: false,
    commands: logging,
  },
  logFormat: {
    name: 'log.format',
    defaultText: 'auto',
    help: 'Form of the log: json, pretty, or auto, which is pretty on a terminal and json elsewhere.',
    ...oneOf(logFormats),
    isRepeatable: false,
    commands: logging,
  },
  demoApplications: {
    name: 'demo.applications',
    defaultText: '12',
    help: 'Applications of the simulated account.',
    ...wholeNumber(1, 10_000),
    isRepeatable: false,
    commands: ['demo'],
  },
  demoHosts: {
    name: 'demo.hosts',
    defaultText: '48',
    help: 'Hosts of the simulated account, all applications together.',
    ...wholeNumber(0, 100_000),
    isRepeatable: false,
    commands: ['demo'],
  },
  demoPort: {
    name: 'demo.port',
    defaultText: '0',
    help: 'Port of the simulated New Relic API on the loopback address; 0 takes a free one.',
    ...wholeNumber(0, 65_535),
    isRepeatable: false,
    commands: ['demo'],
  },
};

function oneOf<Word extends string>(
  words: readonly Word[],
): Pick<Flag<Word>, 'expected' | 'parse'> {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse: (text) => words.find((word) => word === text),
  };
}

function wholeNumber(least: number, most: number): Pick<Flag<number>, 'expected' | 'parse'> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      if (!/^\d{1,9}$/.test(text)) return undefined;
      const number = Number(text);
      return number >= least && number <= most ? number : undefined;
    },
  };
}

function listenAddress(text: string): string | undefined {
  try {
    parseListenAddress(text);
    return text;
  } catch {
    return undefined;
  }
}

/** First segments of the paths that serve something else; `/` itself is the status page. */
const reservedSegments: ReadonlySet<string> = new Set(['-', 'api', 'config']);

function telemetryPath(text: string): string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  // HTTP clients resolve these before they ask, so the page would not be found.
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return reservedSegments.has(segments[0] ?? '') ? undefined : text;
}
