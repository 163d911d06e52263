import { LineCounter } from 'yaml';
import { keysInFile } from '../model/key-text.ts';
import { printable, unprintable } from '../model/shown-text.ts';
import { inOrder } from './read-file.ts';

type DiagnosticSeverity = 'error' | 'warning';

/** A file whose text messages show. */
export interface SourceText {
  /** Its name in messages. */
  readonly fileName: string;
  readonly text: string;
}

/** A range of offsets (UTF-16 code units) in the text of a file; `end` is not part of it. */
export interface Span {
  readonly file: SourceText;
  readonly start: number;
  readonly end: number;
}

/** Something that a check of a file found, with its place in the text. */
export interface FileProblem {
  readonly severity: DiagnosticSeverity;
  /** `undefined` if it concerns the file as a whole, or all that it includes. */
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
  readonly severity: DiagnosticSeverity;
  readonly message: string;
  readonly help: string | undefined;
}

export function errorAt(span: Span | undefined, message: string, help?: string): FileProblem {
  return { severity: 'error', span, message, help };
}

export function warningAt(span: Span | undefined, message: string, help?: string): FileProblem {
  return { severity: 'warning', span, message, help };
}

/** Keys, and credentials in URLs: they must never be shown. */
const secretPatterns: readonly RegExp[] = [
  ...keysInFile.map((key) => new RegExp(`(?<secret>${key})`, 'giu')),
  // Bounded: a line of many "://" would otherwise take quadratic time.
  /:\/\/(?<secret>\S{1,1000})@/giu,
  /(?<secret>[^\s:/@"']{1,100}:[^\s/@]{1,100})@/giu,
];

/** In a file also the text after the name of a secret, up to the end of the line. */
const assignment =
  /(?:\b|_)(?:api[_-]?key|license[_-]?key|user[_-]?key|key|token|password|secret|proxy[_-]?url)["']?[ \t]*:[ \t]*(?<secret>[^\r\n]+)/giu;

function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/gu, (character) => '*'.repeat(character.length));
}

function mask(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce(
    (masked, pattern) =>
      masked.replaceAll(pattern, (whole: string, secret: string) => {
        const at = whole.lastIndexOf(secret);
        return whole.slice(0, at) + blank(secret) + whole.slice(at + secret.length);
      }),
    text,
  );
}

/** Replaces everything that may be a secret in a message with asterisks. */
function maskSecrets(message: string): string {
  return mask(message, secretPatterns);
}

/**
 * Replaces everything that may be a secret in the text of a file with asterisks, and the given spans
 * too. The result has the same length and the same lines, so that every offset stays valid.
 */
function maskSource(text: string, spans: readonly Span[] = []): string {
  const masked = mask(text, [...secretPatterns, assignment]);
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    if (end <= done) continue;
    const from = Math.max(start, done);
    pieces.push(masked.slice(done, from), blank(masked.slice(from, end)));
    done = end;
  }
  return pieces.join('') + masked.slice(done);
}

/**
 * Finds the places of spans. `secrets` are masked, and so is all that looks like a secret.
 *
 * @param fileName that of problems without a span
 */
export function createPlacer(
  fileName: string,
  secrets: readonly Span[] = [],
): (span: Span | undefined) => Place {
  const shown = new Map<SourceText, { readonly masked: string; readonly lines: LineCounter }>();
  const shownOf = (file: SourceText) => {
    const known = shown.get(file);
    if (known !== undefined) return known;
    const own = secrets.filter((secret) => secret.file === file);
    const lines = new LineCounter();
    lines.lineStarts = [0, ...Array.from(file.text.matchAll(/\n/gu), ({ index }) => index + 1)];
    const made = { masked: maskSource(file.text, own), lines };
    shown.set(file, made);
    return made;
  };
  return (span) => {
    if (span === undefined) {
      return { fileName, line: 0, column: 0, length: 0, sourceLine: undefined };
    }
    const { masked, lines } = shownOf(span.file);
    const { line, col: column } = lines.linePos(span.start);
    const start = span.start - column + 1;
    const sourceLine = masked.slice(start, lines.lineStarts[line]).replace(/\r?\n$/u, '');
    const length = Math.max(1, Math.min(span.end, start + sourceLine.length) - span.start);
    return { fileName: span.file.fileName, line, column, length, sourceLine };
  };
}

/**
 * Turns problems into diagnostics, sorted by place, with line numbers and masked source lines. Each
 * problem appears once: an alias repeats the problems of its anchor. `secrets` are masked, and so is
 * every other text that looks like a secret.
 *
 * @param fileName that of problems without a span, which come first, as those of this file do
 */
export function diagnosticsOf(
  fileName: string,
  problems: readonly FileProblem[],
  secrets: readonly Span[] = [],
): readonly Diagnostic[] {
  const placeOf = createPlacer(fileName, secrets);
  const orderOf = ({ span }: FileProblem): number => (span === undefined ? -1 : span.start);
  const nameOf = ({ span }: FileProblem): string =>
    span === undefined || span.file.fileName === fileName ? '' : span.file.fileName;
  const keyOf = (one: FileProblem): string =>
    JSON.stringify([nameOf(one), orderOf(one), one.message]);
  const different = new Map(problems.map((one) => [keyOf(one), one]));
  return [...different.values()]
    .toSorted((one, other) => inOrder(nameOf(one), nameOf(other)) || orderOf(one) - orderOf(other))
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

/** Longer lines are cut: a file may be one line of a megabyte. */
const longestExcerpt = 160;
const contextBefore = 60;

/** Tabs and line ends among them. */
const eachUnreadable = new RegExp(`[${unprintable}]`, 'gu');

/** The line of a problem, safe to print and perhaps cut, and carets below the place. */
export function renderExcerpt({ line, column, length, sourceLine }: Place): readonly string[] {
  if (sourceLine === undefined) return [];
  const from = column - 1;
  const isLong = sourceLine.length > longestExcerpt;
  const start = isLong && from > contextBefore ? from - contextBefore : 0;
  const end = Math.min(sourceLine.length, start + longestExcerpt);
  const begin = start > 0 ? '…' : '';
  const shown = sourceLine.slice(start, end).replaceAll('\t', ' ');
  const text = begin + shown.replaceAll(eachUnreadable, '\u{fffd}');
  const carets = '^'.repeat(Math.max(1, Math.min(length, end - from)));
  return [
    `  ${line} | ${(text + (end < sourceLine.length ? '…' : '')).trimEnd()}`,
    `  ${gutterOf(line)} | ${' '.repeat(begin.length + from - start)}${carets}`,
  ];
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
