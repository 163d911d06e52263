import { pino } from 'pino';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { toLogValue } from './log-value.ts';
import type { Redactor } from './redactor.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
}

/** Where the lines go, such as `process.stderr`. */
interface LogStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
  on(event: 'error', listener: () => void): unknown;
}

export interface LoggerDependencies {
  readonly stream: LogStream;
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Read for `NO_COLOR` and `TERM`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A logger that writes one line per entry, at once and in this thread, so that the last words of a
 * dying process arrive. No secret of the redactor leaves it, and neither a broken pipe nor a value
 * that cannot be read makes it throw.
 */
export async function createLogger(
  options: LoggerOptions,
  dependencies: LoggerDependencies,
): Promise<Logger> {
  const { stream, redactor, clock } = dependencies;
  ignoreWriteErrors(stream);
  const render = await rendererFor(options.format, dependencies);
  const destination = {
    write: (line: string): void => {
      stream.write(render(line));
    },
  };
  const sink = pino(
    {
      level: options.level,
      // Neither process id nor host name: whoever collects the lines knows them.
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // Errors are plain copies by then; pino would make errors without a name of them.
      serializers: { err: (value: unknown) => value },
    },
    destination,
  );
  const copyOptions = {
    redact: (text: string) => redactor.redact(text),
    stacks: options.level === 'debug',
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
  { stream, env }: LoggerDependencies,
): Promise<(line: string) => string> {
  const isTerminal = stream.isTTY === true;
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal);
  if (!isPretty) return (line) => line;
  // Loaded only where somebody looks: it adds a third to the start of the process.
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({
    colorize: isTerminal && !isColorRefused(env),
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: false,
  });
}

/** See https://no-color.org: any value but the empty one. */
function isColorRefused(env: LoggerDependencies['env']): boolean {
  return (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** `auto` is `pretty` on a terminal and `json` anywhere else. */
export const logFormats = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof logFormats)[number];

/**
 * Keeps the process alive when the reader of its output is gone (EPIPE) or the disk is full: Node
 * throws a stream error that nobody listens to. For standard output and standard error only, where
 * there is nobody left to tell.
 */
export function ignoreWriteErrors(stream: {
  on(event: 'error', listener: () => void): unknown;
}): void {
  stream.on('error', () => undefined);
}
