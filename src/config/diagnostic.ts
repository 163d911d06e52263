import { LineCounter } from 'yaml';
import { printable } from '../model/line-text.ts';
import { maskSecrets, maskSource } from './mask-secrets.ts';
import { excerptOf } from './source-excerpt.ts';
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

function isRepetition(problem: Problem, previous: Problem | undefined): boolean {
  return (
    previous !== undefined &&
    previous.message === problem.message &&
    previous.span?.start === problem.span?.start
  );
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
  const sorted = problems.toSorted(
    (one, other) => (one.span?.start ?? -1) - (other.span?.start ?? -1),
  );
  return sorted
    .filter((problem, index) => !isRepetition(problem, sorted[index - 1]))
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

/** The line of a problem, and carets below the place. */
export function renderExcerpt({ line, column, length, sourceLine }: Place): readonly string[] {
  if (sourceLine === undefined) return [];
  const excerpt = excerptOf(sourceLine, column, length);
  return [`  ${line} | ${excerpt.text}`, `  ${gutterOf(line)} | ${excerpt.carets}`];
}

function gutterOf(line: number): string {
  return ' '.repeat(String(line).length);
}

/** One mistake may occur in every entry of a large file: nobody would read all of them. */
export const mostShown = 50;

/** Some diagnostics, and the number of those left out. */
export interface ShownDiagnostics {
  readonly shown: readonly Diagnostic[];
  readonly more: number;
}

/** The first diagnostics, as many as somebody may want to read. */
export function firstOf(diagnostics: readonly Diagnostic[]): ShownDiagnostics {
  const shown = diagnostics.slice(0, mostShown);
  return { shown, more: diagnostics.length - shown.length };
}

/** Renders the first diagnostics in full, and the number of the others. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const { shown, more } = firstOf(diagnostics);
  const rows = shown.map(renderDiagnostic);
  return (more === 0 ? rows : [...rows, `and ${more} more`]).join('\n');
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
