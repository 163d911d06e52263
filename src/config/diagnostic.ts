import { LineCounter } from 'yaml';
import { printable } from '../model/shown-text.ts';
import { maskSecrets, maskSource } from './mask-secrets.ts';
import type { Span } from './yaml-node.ts';

type Severity = 'error' | 'warning';

/** Something that a check of a file found, with its place in the text. */
export interface Problem {
  readonly severity: Severity;
  /** `undefined` if it concerns the file as a whole. */
  readonly span: Span | undefined;
  readonly message: string;
  readonly help: string | undefined;
}

/** A place in a file, for people to look at. */
export interface Place {
  readonly fileName: string;
  /** From 1; 0 if the file as a whole is meant. */
  readonly line: number;
  /** From 1, in UTF-16 code units like in editors; 0 if the file as a whole is meant. */
  readonly column: number;
  /** The length of the marked part of this line, in UTF-16 code units. */
  readonly length: number;
  /** The line of the place; secrets are masked. */
  readonly sourceLine: string | undefined;
}

/** A problem for people to read. Keys and credentials are masked in every field. */
export interface Diagnostic extends Place {
  readonly severity: Severity;
  readonly message: string;
  readonly help: string | undefined;
}

export function errorAt(span: Span | undefined, message: string, help?: string): Problem {
  return { severity: 'error', span, message, help };
}

export function warningAt(span: Span | undefined, message: string, help?: string): Problem {
  return { severity: 'warning', span, message, help };
}

/** Where the lines of a text begin. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    lines.addNewLine(at + 1);
  }
  return lines;
}

/** Finds the places of spans in a text. `secrets` are masked, and so is all that looks like a secret. */
export function createPlacer(
  fileName: string,
  text: string,
  secrets: readonly Span[] = [],
): (span: Span | undefined) => Place {
  let known: { readonly masked: string; readonly lines: LineCounter } | undefined;
  return (span) => {
    if (span === undefined) {
      return { fileName, line: 0, column: 0, length: 0, sourceLine: undefined };
    }
    known ??= { masked: maskSource(text, secrets), lines: linesOf(text) };
    const { masked, lines } = known;
    const { line, col: column } = lines.linePos(span.start);
    const start = span.start - column + 1;
    const sourceLine = masked.slice(start, lines.lineStarts[line]).replace(/\r?\n$/u, '');
    const length = Math.max(1, Math.min(span.end, start + sourceLine.length) - span.start);
    return { fileName, line, column, length, sourceLine };
  };
}

/**
 * Turns problems into diagnostics, sorted by place, with line numbers and masked source lines. Each
 * problem appears once: an alias repeats the problems of its anchor. `secrets` are masked, and so is
 * every other text that looks like a secret.
 */
export function diagnosticsOf(
  fileName: string,
  text: string,
  problems: readonly Problem[],
  secrets: readonly Span[] = [],
): readonly Diagnostic[] {
  const placeOf = createPlacer(fileName, text, secrets);
  const different = new Map(problems.map((one) => [`${one.span?.start} ${one.message}`, one]));
  return [...different.values()]
    .toSorted((one, other) => (one.span?.start ?? -1) - (other.span?.start ?? -1))
    .map(({ severity, span, message, help }) => ({
      ...placeOf(span),
      severity,
      message: printable(maskSecrets(message)),
      help: help === undefined ? undefined : printable(maskSecrets(help)),
    }));
}

/** Renders `config.yaml:5:5: message`, the line, carets below the place, and the help if there is one. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  const { severity, fileName, line, column, message, help } = diagnostic;
  const place = line === 0 ? fileName : `${fileName}:${line}:${column}`;
  const rows = [
    `${printable(place)}: ${severity === 'warning' ? 'warning: ' : ''}${message}`,
    ...renderExcerpt(diagnostic),
  ];
  if (help !== undefined) rows.push(`  ${gutterOf(line)} = help: ${help}`);
  return rows.join('\n');
}

const combining = /\p{M}/u;
/** Characters that take two cells of a terminal: wide East Asian ones and emoji. */
const wide =
  /[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Longer lines are cut: a file may be one line of a megabyte. */
const longestExcerpt = 160;
const contextBefore = 60;

/** Most text, and each of its characters takes one cell. */
const ascii = /^[ -~]*$/u;

/** Each tab or control character as one cell. */
function visible(text: string): string {
  if (ascii.test(text)) return text;
  return Array.from(text.replaceAll('\t', ' '), (character) =>
    printable(character) === character ? character : '\u{fffd}',
  ).join('');
}

function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  return Array.from(text).reduce((width, character) => {
    if (combining.test(character)) return width;
    return width + (wide.test(character) ? 2 : 1);
  }, 0);
}

/**
 * The line of a problem, safe to print and perhaps cut, and carets below the place. They are aligned in a
 * terminal whatever the line holds.
 */
export function renderExcerpt({ line, column, length, sourceLine }: Place): readonly string[] {
  if (sourceLine === undefined) return [];
  const from = column - 1;
  const start =
    sourceLine.length > longestExcerpt && from > contextBefore ? from - contextBefore : 0;
  const end = Math.min(sourceLine.length, start + longestExcerpt);
  const until = Math.min(from + Math.max(1, length), end);
  const before = (start > 0 ? '…' : '') + visible(sourceLine.slice(start, from));
  const marked = visible(sourceLine.slice(from, until));
  const after = visible(sourceLine.slice(until, end)) + (end < sourceLine.length ? '…' : '');
  const carets = ' '.repeat(widthOf(before)) + '^'.repeat(Math.max(1, widthOf(marked)));
  return [`  ${line} | ${(before + marked + after).trimEnd()}`, `  ${gutterOf(line)} | ${carets}`];
}

function gutterOf(line: number): string {
  return ' '.repeat(String(line).length);
}

/** One mistake may occur in every entry of a large file: in a log or on a page, all would bury the rest. */
export const mostShown = 50;

/** The first diagnostics, as many as somebody may want to read, and the number of those left out. */
export function firstOf(diagnostics: readonly Diagnostic[]): {
  readonly shown: readonly Diagnostic[];
  readonly more: number;
} {
  const shown = diagnostics.slice(0, mostShown);
  return { shown, more: diagnostics.length - shown.length };
}

/** Renders the first diagnostics in full, and the number of the others. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const { shown, more } = firstOf(diagnostics);
  const rows = shown.map(renderDiagnostic);
  const others = `and ${more} more: newrelic-exporter check-config shows all`;
  return (more === 0 ? rows : [...rows, others]).join('\n');
}

/** The only error of reading a configuration. Its message shows the first diagnostics. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], options?: ErrorOptions) {
    super(renderDiagnostics(diagnostics), options);
    this.diagnostics = diagnostics;
  }
}
