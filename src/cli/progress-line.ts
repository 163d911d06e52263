import type { Output } from '../daemon/platform.ts';
import type { Clock } from '../model/clock.ts';
import { printable } from '../model/line-text.ts';
import type { Progress } from '../model/progress.ts';
import { isColorWanted } from '../telemetry/colors.ts';

export interface ProgressLineOptions {
  readonly stderr: Output;
  /** Read for `TERM`, `NO_COLOR` and `FORCE_COLOR`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Progress of one command. On a terminal it is one line of standard error, which is updated in place and
 * erased at the end; anywhere else a plain line every ten seconds. A command that is done within a second
 * shows nothing.
 */
export interface ProgressLine extends Progress {
  /** What else the command writes to standard error has to go here, so that it does not mix with the line. */
  readonly stderr: Output;
  /** Erases the line, for good. */
  end(): void;
}

const firstMs = 1000;
const redrawMs = 200;
const plainMs = 10_000;
const usualColumns = 80;

const erase = '\r\u001B[K';
const dim = '\u001B[2m';
const normal = '\u001B[22m';

export function createProgressLine(
  { stderr, env }: ProgressLineOptions,
  { clock }: { readonly clock: Clock },
): ProgressLine {
  const isTerminal = stderr.isTTY === true && env['TERM'] !== 'dumb';
  return new Line(isTerminal ? inPlace(stderr, env) : plainLines(stderr, env), stderr, clock);
}

/** How a line is shown. */
interface Style {
  readonly firstMs: number;
  readonly everyMs: number;
  draw(text: string): void;
  /** Removes what was drawn, if anything is left of it. */
  erase(): void;
}

function inPlace(stderr: Output, env: ProgressLineOptions['env']): Style {
  const isColored = isColorWanted(stderr, env);
  let isDrawn = false;
  return {
    firstMs,
    everyMs: redrawMs,
    draw: (text) => {
      // The last column stays free: some terminals begin a new line after it.
      const shown = cut(text, (stderr.columns ?? usualColumns) - 1);
      stderr.write(`${erase}${isColored ? `${dim}${shown}${normal}` : shown}`);
      isDrawn = true;
    },
    erase: () => {
      if (isDrawn) stderr.write(erase);
      isDrawn = false;
    },
  };
}

function plainLines(stderr: Output, env: ProgressLineOptions['env']): Style {
  const isColored = isColorWanted(stderr, env);
  return {
    firstMs: plainMs,
    everyMs: plainMs,
    draw: (text) => {
      stderr.write(isColored ? `${dim}${text}${normal}\n` : `${text}\n`);
    },
    erase: () => {},
  };
}

class Line implements ProgressLine {
  readonly stderr: Output;
  readonly #style: Style;
  readonly #clock: Clock;
  readonly #startMs: number;
  #text: (() => string) | undefined;
  #cancel: (() => void) | undefined;
  #hasEnded = false;

  constructor(style: Style, stderr: Output, clock: Clock) {
    this.#style = style;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.stderr = {
      isTTY: stderr.isTTY,
      columns: stderr.columns,
      on: (event, listener) => stderr.on(event, listener),
      write: (text) => {
        this.#style.erase();
        return stderr.write(text);
      },
    };
  }

  show(text: () => string): void {
    if (this.#hasEnded) return;
    this.#text = text;
    const elapsedMs = this.#clock.monotonicMs() - this.#startMs;
    this.#cancel ??= this.#clock.after(Math.max(0, this.#style.firstMs - elapsedMs), () =>
      this.#draw(),
    );
  }

  end(): void {
    this.#hasEnded = true;
    this.#cancel?.();
    this.#style.erase();
  }

  #draw(): void {
    const seconds = Math.floor((this.#clock.monotonicMs() - this.#startMs) / 1000);
    this.#style.draw(`${printable(this.#text?.() ?? '')} … ${seconds} s`);
    this.#cancel = this.#clock.after(this.#style.everyMs, () => this.#draw());
  }
}

/** The text in no more than so many columns; outside of ASCII a character may take two. */
function cut(text: string, columns: number): string {
  let width = 0;
  let shown = '';
  for (const character of text) {
    width += (character.codePointAt(0) ?? 0) < 0x80 ? 1 : 2;
    if (width > columns) break;
    shown += character;
  }
  return shown;
}
