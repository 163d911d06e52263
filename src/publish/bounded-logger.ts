import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

export interface BoundedLogger extends Logger {
  /** Writes what is held back, and holds back nothing more: no timer is left. */
  stop(): void;
}

/** A few, so that a small installation sees each application by name. */
const linesInFull = 3;
const spanMs = 60_000;

/** A minute of one message. */
interface Minute {
  /** Lines that may still be written in full. */
  linesLeft: number;
  held: number;
  /** Writes the last line that was held back. */
  writeLast: ((suppressed: number) => void) | undefined;
  readonly cancelTimer: () => void;
}

/**
 * Bounds the lines of one account, however many applications fail. The first three lines with the
 * same message are written at once. Of all others in the minute that begins with the first line, the
 * last one is written at its end, and says how many it stands for in `suppressed`. While that goes
 * on, each further minute has one line. Debug lines are not bounded.
 */
export function createBoundedLogger(logger: Logger, clock: Clock): BoundedLogger {
  const minutes = new Map<string, Minute>();
  let isStopped = false;

  const begin = (message: string, linesLeft: number): Minute => {
    const cancelTimer = clock.after(spanMs, () => end(message));
    const minute: Minute = { linesLeft, held: 0, writeLast: undefined, cancelTimer };
    minutes.set(message, minute);
    return minute;
  };

  const end = (message: string): void => {
    const minute = minutes.get(message);
    minutes.delete(message);
    minute?.cancelTimer();
    if (minute?.writeLast === undefined) return;
    minute.writeLast(minute.held);
    if (!isStopped) begin(message, 0);
  };

  const at =
    (level: 'info' | 'warn' | 'error'): Logger[typeof level] =>
    (fields, message) => {
      const write = (suppressed: number): void => {
        logger[level](suppressed > 0 ? { ...fields, suppressed } : fields, message);
      };
      if (isStopped) {
        write(0);
        return;
      }
      const minute = minutes.get(message) ?? begin(message, linesInFull);
      if (minute.linesLeft > 0) {
        minute.linesLeft -= 1;
        write(0);
      } else {
        minute.held += Number(fields['count'] ?? 1);
        minute.writeLast = (held) => write(held - Number(fields['count'] ?? 1));
      }
    };

  return {
    isDebugging: logger.isDebugging === true,
    debug: (fields, message) => logger.debug(fields, message),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    stop: () => {
      isStopped = true;
      for (const message of minutes.keys()) end(message);
    },
  };
}
