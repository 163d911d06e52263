import { pino } from 'pino';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { type Redactor, redacted } from './redactor.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** `auto` is `pretty` on a terminal and `json` anywhere else. */
export const logFormats = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LoggerOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Receives the lines, such as `process.stderr`. */
interface LogStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
  on(event: 'error', listener: () => void): unknown;
}

export interface LoggerDependencies {
  /** Where the lines go: standard output is for what a command is asked for. */
  readonly stderr: LogStream;
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Read for `NO_COLOR` and `TERM`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates a logger that writes one line per entry, synchronously, so that the last words of a dying
 * process arrive. It writes no secret that the redactor knows, and throws neither for a broken pipe
 * nor for an unreadable value.
 */
export async function createLogger(
  options: LoggerOptions,
  dependencies: LoggerDependencies,
): Promise<Logger> {
  const { stderr, redactor, clock } = dependencies;
  ignoreWriteErrors(stderr);
  const render = await rendererFor(options.logFormat, dependencies);
  const destination = {
    write: (line: string): void => {
      stderr.write(render(line));
    },
  };
  const sink = pino(
    {
      level: options.logLevel,
      // Neither process id nor host name: a log collector adds them.
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // Errors are plain copies here already; pino would turn those into errors without a name.
      serializers: { err: (value: unknown) => value },
    },
    destination,
  );
  const copyOptions = {
    redact: (text: string) => redactor.redact(text),
    stacks: options.logLevel === 'debug',
  };
  const at =
    (level: LogLevel): Logger[LogLevel] =>
    (fields, message) => {
      if (!sink.isLevelEnabled(level)) return;
      sink[level](toLogValue(fields, copyOptions), redactor.redact(message));
    };

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

async function rendererFor(
  format: LogFormat,
  { stderr, env }: LoggerDependencies,
): Promise<(line: string) => string> {
  const isTerminal = stderr.isTTY === true;
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal);
  if (!isPretty) return (line) => line;
  // Loaded only when needed: it adds a third to the start of the process.
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({
    colorize: isTerminal && !isColorRefused(env),
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: false,
  });
}

/** See https://no-color.org: every value counts, except the empty one. */
function isColorRefused(env: LoggerDependencies['env']): boolean {
  return (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
}

/**
 * Keeps the process alive when the reader of its output is gone (EPIPE) or the disk is full: Node
 * throws a stream error that has no listener. Only for standard output and standard error, whose
 * failure cannot be reported anywhere.
 */
export function ignoreWriteErrors(stream: {
  on(event: 'error', listener: () => void): unknown;
}): void {
  stream.on('error', () => undefined);
}

interface LogValueOptions {
  /** Applied to every string and to every property name. */
  readonly redact: (text: string) => string;
  /** Whether errors carry their stack. */
  readonly stacks: boolean;
}

/** Names of fields whose content is never logged, in lower case and without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  'apikey',
  'xapikey',
  'licensekey',
  'authorization',
  'proxyauthorization',
  'password',
  'secret',
  'token',
  'cookie',
  'setcookie',
]);

/** Deeper than everything that is logged on purpose. */
const maximumDepth = 8;

/**
 * Copies the value into plain JSON values without secrets. Errors become
 * `{type, message, reason?, status?, cause?}`. Never throws: marks unreadable values instead.
 */
function toLogValue(value: unknown, options: LogValueOptions): unknown {
  return copy(value, options, []);
}

function copy(value: unknown, options: LogValueOptions, parents: readonly object[]): unknown {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'object':
      return value === null ? null : copyObject(value, options, parents);
    case 'number':
    case 'boolean':
      return copyScalar(value, options);
    case 'function':
      return '[function]';
    case 'string':
    case 'bigint':
    case 'symbol':
      return options.redact(String(value));
  }
}

/** A number stays a number unless its digits are a secret. */
function copyScalar(value: number | boolean, options: LogValueOptions): unknown {
  const text = String(value);
  const safe = options.redact(text);
  if (safe !== text) return safe;
  return typeof value === 'number' && !Number.isFinite(value) ? text : value;
}

function copyObject(value: object, options: LogValueOptions, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= maximumDepth) return '[too deep]';
  const path = [...parents, value];
  try {
    if (value instanceof Error) return copyError(value, options, path);
    if (Array.isArray(value) || value instanceof Set) {
      return Array.from(value, (item: unknown) => copy(item, options, path));
    }
    const text = textOf(value);
    if (text !== undefined) return options.redact(text);
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return copyEntries(entries, options, path);
  } catch {
    return '[unreadable]';
  }
}

/** The text of an object whose properties say less than its text. */
function textOf(value: object): string | undefined {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return undefined;
}

function copyEntries(
  entries: readonly (readonly [unknown, unknown])[],
  options: LogValueOptions,
  path: readonly object[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const name = String(key);
      const isSecret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
      return [
        options.redact(name),
        isSecret && item !== undefined ? redacted : copy(item, options, path),
      ];
    }),
  );
}

function copyError(
  error: Error,
  options: LogValueOptions,
  path: readonly object[],
): Readonly<Record<string, unknown>> {
  const { reason, status }: Error & { reason?: unknown; status?: unknown } = error;
  return {
    type: options.redact(error.name),
    message: options.redact(messageOf(error)),
    reason: copy(reason, options, path),
    status: copy(status, options, path),
    cause: copy(error.cause, options, path),
    stack: options.stacks ? copy(error.stack, options, path) : undefined,
  };
}

/** When a connection fails at every address, Node's error has no message of its own. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors
    .map((inner: unknown) => (inner instanceof Error ? inner.message : String(inner)))
    .join('; ');
}
