import { pino } from 'pino';
import type { Clock } from '../model/clock.ts';
import { escapeUnsafe } from '../model/shown-text.ts';
import type { Logger } from '../model/telemetry.ts';
import { entryIn, type LogEntry, loggedError } from './log-value.ts';
import type { Redactor } from './redactor.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** `auto` is `pretty` on a terminal and `json` anywhere else. */
export const logFormats = ['auto', 'json', 'pretty', 'logfmt'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LoggerOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** A stream to a terminal or a pipe, such as `process.stderr`. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  /** What waits for a reader. */
  readonly writableLength?: number;
  write(text: string): unknown;
  on(event: 'error', listener: () => void): unknown;
}

export interface LoggerDependencies {
  /** Where the lines go: standard output is for what a command is asked for. */
  readonly stderr: Output;
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Says whether colours are wanted: see `isColorWanted`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What may wait for a reader that has stopped reading: at level debug some minutes. */
const mostUnreadBytes = 4 * 1024 * 1024;

/**
 * Creates a logger that writes one line per entry, synchronously, so that the last words of a dying
 * process arrive. Lines that nobody reads are dropped before they fill the memory. It writes no secret
 * that the redactor knows, and throws neither for a broken pipe nor for an unreadable value.
 */
export async function createLogger(
  options: LoggerOptions,
  dependencies: LoggerDependencies,
): Promise<Logger> {
  const { stderr, redactor, clock } = dependencies;
  ignoreWriteErrors(stderr);
  const render = await rendererFor(options.logFormat, dependencies);
  const isDebugging = options.logLevel === 'debug';
  let lost = 0;
  const destination = {
    write: (line: string): void => {
      if ((stderr.writableLength ?? 0) > mostUnreadBytes) {
        lost += 1;
        return;
      }
      stderr.write(`${render(entryIn(line, (text) => redactor.redact(text)))}\n`);
      if (lost === 0) return;
      const count = lost;
      lost = 0;
      logger.warn({ lost: count }, 'lines of the log were lost: nobody read them');
    },
  };
  const sink = pino(
    {
      level: options.logLevel,
      // Neither process id nor host name: a log collector adds them.
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => loggedError(error, isDebugging) },
    },
    destination,
  );
  const at =
    (level: LogLevel): Logger[LogLevel] =>
    (fields, message) => {
      try {
        sink[level](fields, message);
      } catch {
        sink[level]({ fields: '[unreadable]' }, message);
      }
    };

  const logger: Logger = {
    isDebugging,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  return logger;
}

async function rendererFor(
  format: LogFormat,
  { stderr, env }: LoggerDependencies,
): Promise<(entry: LogEntry) => string> {
  const isPretty = format === 'pretty' || (format === 'auto' && stderr.isTTY === true);
  if (!isPretty && format !== 'logfmt') return (entry) => escapeUnsafe(JSON.stringify(entry));
  const { logfmtLine, prettyLine } = await import('./log-lines.ts');
  if (!isPretty) return logfmtLine;
  const isColored = isColorWanted(stderr, env);
  return (entry) => prettyLine(entry, isColored);
}

/**
 * Whether to write colours: only to a terminal. `FORCE_COLOR` decides otherwise (`0` and `false` mean
 * never), then `NO_COLOR` (see https://no-color.org: every value counts, except the empty one), then
 * `TERM=dumb`. Node.js itself reads them in the same order.
 */
function isColorWanted({ isTTY }: Output, env: LoggerDependencies['env']): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  return isTTY === true;
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
