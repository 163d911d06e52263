import type { Clock } from '../model/clock.ts';
import { printable } from '../model/line-text.ts';
import type { Progress } from '../model/progress.ts';
import type { Output } from '../telemetry/logger.ts';

/** Progress of one command. */
export interface ProgressLines extends Progress {
  /** No line comes after this. */
  end(): void;
}

/** Somebody who looks at a terminal wants to know soon. */
const firstOnTerminalMs = 1000;
const everyMs = 10_000;

/** Writes a line to standard error every ten seconds; on a terminal the first one after a second. */
export function createProgressLines(
  stderr: Output,
  { clock }: { readonly clock: Clock },
): ProgressLines {
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
