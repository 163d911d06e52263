import {
  CommandError,
  type ExitCode,
  type Progress,
  type ToolPlatform,
} from '../daemon/platform.ts';
import { printable } from '../model/shown-text.ts';

/**
 * The result of a command that does one thing. The command does not write to standard output itself: its
 * output is printed in one piece, and only if the command was not interrupted.
 */
export interface Outcome {
  readonly exitCode: Extract<ExitCode, 0 | 1 | 2>;
  /** For standard output. */
  readonly output: string;
}

/**
 * Runs a command that does one thing, with lines of progress while it works, and prints its output. Rejects
 * with a `CommandError` if not all of the output could be written, and when the process is asked to stop: at
 * once, without waiting for the command.
 *
 * @param keepsParts whether the command ends by itself when the process is asked to stop; then what it has by
 *   then is printed before the promise rejects
 */
export async function runOneShot(
  command: (platform: ToolPlatform) => Promise<Outcome>,
  keepsParts: boolean,
  platform: ToolPlatform,
): Promise<ExitCode> {
  const { stopSignal, print } = platform;
  const progress = createProgressLines(platform);
  const work = async (): Promise<ExitCode> => {
    const { exitCode, output } = await command({ ...platform, progress });
    // A command may have noticed the stop itself and ended early.
    const isPrinted = keepsParts || !stopSignal.aborted;
    if (isPrinted && output !== '') await printed(output, print);
    return exitCode;
  };
  try {
    const exitCode = await (keepsParts ? work() : unlessStopped(work, stopSignal));
    if (!stopSignal.aborted) return exitCode;
  } catch (error) {
    if (!stopSignal.aborted || error instanceof CommandError) throw error;
  } finally {
    // A command that was interrupted still works.
    progress.end();
  }
  throw interrupted(stopSignal);
}

async function printed(output: string, print: ToolPlatform['print']): Promise<void> {
  try {
    await print(output);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(1, `standard output cannot be written: ${reason}`, { cause: error });
  }
}

async function unlessStopped<Value>(
  work: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  signal.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(interrupted(signal)), { once: true });
  });
  return Promise.race([work(), stopped]);
}

function interrupted({ reason }: AbortSignal): CommandError {
  const isInterrupt = reason instanceof Error && reason.cause === 'SIGINT';
  return new CommandError(isInterrupt ? 130 : 143, 'interrupted before it was done');
}

/** Somebody who looks at a terminal wants to know soon. */
const firstOnTerminalMs = 1000;
const everyMs = 10_000;

/**
 * Writes a line to standard error every ten seconds, until `end`; on a terminal the first one after a
 * second.
 */
function createProgressLines({ stderr, clock }: ToolPlatform): Progress & { end(): void } {
  const startMs = clock.monotonicMs();
  let text: (() => string) | undefined;
  const write = (): void => {
    const seconds = Math.floor((clock.monotonicMs() - startMs) / 1000);
    if (text !== undefined) stderr.write(`${seconds} s: ${printable(text())}\n`);
    cancel = clock.after(everyMs, write);
  };
  let cancel = clock.after(stderr.isTTY === true ? firstOnTerminalMs : everyMs, write);
  return {
    show: (next) => {
      text = next;
    },
    end: () => cancel(),
  };
}
