import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';
import { type Found, mapsUnder, type PlainMap, valueAt } from './yaml-document.ts';

/** Longer than real names. Only this part is searched, so that no name takes long. */
const longestSearched = 1000;
/** For the caches of all expressions together. Each one alone would take up to 8 MB. */
const mostCachedBytes = 16e6;
const longestPattern = 2000;
/** With every count written out: the engine itself would take seconds and 150 MB for a million. */
const mostWrittenOut = 50_000;
/** Of the program that an expression becomes: a search may take each of them for each character. */
const mostSteps = 2000;
/** Of all different expressions, which take 20 MB then; a reload may need that twice. */
const mostStepsTogether = 200_000;
/** What the smallest expression takes, in steps. */
const leastSteps = 100;

/** Compiles a regular expression in RE2's syntax. Throws an `Error` if the syntax is wrong. */
export type CompilePattern = (source: string) => NamePattern & { readonly steps: number };

/** Equal to another pattern with the same source, so that configurations can be compared. */
class Re2Pattern implements NamePattern {
  readonly source: string;
  readonly steps: number;
  readonly #search: (name: string) => boolean;

  constructor(source: string, steps: number, search: (name: string) => boolean) {
    this.source = source;
    this.steps = steps;
    this.#search = search;
  }

  test(name: string): boolean {
    return this.#search(name.slice(0, longestSearched));
  }
}

/** Loads the engine, which many configurations do not need. Expressions of one compiler share one cache. */
export async function loadPatternCompiler(): Promise<CompilePattern> {
  const engine = await import('re2js');
  const cached = new Set<RE2JS>();
  let cachedBytes = 0;
  const search = (compiled: RE2JS, name: string): boolean => {
    const before = cacheBytesOf(compiled);
    const isFound = compiled.test(name);
    cachedBytes += cacheBytesOf(compiled) - before;
    cached.add(compiled);
    if (cachedBytes <= mostCachedBytes) return isFound;
    for (const other of cached) other.re2().lazyDFA?.clearCache();
    cached.clear();
    cachedBytes = 0;
    return isFound;
  };
  return (source) => {
    const compiled = engine.RE2JS.compile(source);
    return new Re2Pattern(source, compiled.programSize(), (name) => search(compiled, name));
  };
}

/** The bytes in the cache of an expression, by the engine's own count. */
function cacheBytesOf(compiled: RE2JS): number {
  // `null` until the expression is used for the first time, contrary to its type.
  const automaton: { maxMem: number; memBudget: number } | null = compiled.re2().lazyDFA;
  return automaton === null ? 0 : automaton.maxMem - automaton.memBudget;
}

/** What is wrong with an expression, as a predicate, and what helps. */
type PatternFault = readonly [message: string, help: string];

/** Constructs of JavaScript that RE2 does not have, recognized by what the engine names. */
const remedies: readonly (readonly [construct: RegExp, ...PatternFault])[] = [
  [
    /^\(\?<?[=!]/u,
    'RE2 syntax has no look-around',
    'to leave out what matches, put an entry with "exclude: true" before this one',
  ],
  [/^\\[1-9k]/u, 'RE2 syntax has no back-references', 'write the group again'],
  [/^[*+?]$/u, 'nothing stands before the sign of repetition', 'for any text write ".*"'],
  [/^\\u/u, 'RE2 syntax has no \\u', 'write the character itself, or its code point as \\x{1F600}'],
];

/** The engine's message names the part that it does not understand. */
function syntaxFault(error: unknown): PatternFault {
  const text = error instanceof Error ? error.message : String(error);
  const [, reason = text, found = ''] =
    /^(?:error parsing regexp: )?(.*?)(?:: `(.*)`)?$/su.exec(text) ?? [];
  const [, message = reason, help = 'the syntax is that of RE2, as in Prometheus'] =
    remedies.find(([construct]) => construct.test(found)) ?? [];
  return [`is not a valid regular expression: ${message}`, help];
}

function tooLarge(what: string, most: number): PatternFault {
  const message = `is too large a regular expression: ${what}, and at most ${most} are allowed`;
  return [message, 'use smaller counts, or several entries'];
}

/** How long an expression is at most with its counts written out. Groups may be nested. */
function writtenOut(source: string): number {
  let largest = 1;
  let ofGroups = 1;
  for (const [, group, least, most] of source.matchAll(/(\))?\{(\d+)(?:,(\d+))?/gu)) {
    const count = Number(most ?? least);
    if (group === undefined) largest = Math.max(largest, count);
    else ofGroups *= Math.max(count, 1);
  }
  // More than 1000 is refused by the engine.
  return source.length * Math.min(largest * ofGroups, 1000);
}

function compiledOrFault(
  source: string,
  compile: CompilePattern,
): PatternFault | ReturnType<CompilePattern> {
  const { length } = source;
  if (length > longestPattern) return tooLarge(`it has ${length} characters`, longestPattern);
  const written = writtenOut(source);
  if (written > mostWrittenOut) {
    return tooLarge(`its counts make it up to ${written} characters long`, mostWrittenOut);
  }
  try {
    const pattern = compile(source);
    const { steps } = pattern;
    return steps > mostSteps ? tooLarge(`it comes to ${steps} steps`, mostSteps) : pattern;
  } catch (error) {
    return syntaxFault(error);
  }
}

const useFewer = 'select by id or name, or by fewer patterns such as "^(?:a|b)-"';

/** The regular expressions of a file, each text compiled once. */
export interface Patterns {
  /** By their texts; complete if nothing was found. */
  readonly compiled: ReadonlyMap<string, NamePattern>;
  /** Those that cannot be used, and the first that is too much. */
  readonly found: readonly Found[];
}

/** Compiles the regular expressions of the entries and of their hosts. Empty ones are left to the schema. */
export async function compilePatterns(
  written: PlainMap,
  takeBreak: () => Promise<void>,
): Promise<Patterns> {
  const patterns = mapsUnder(written, 'apps').flatMap(({ map, path }) =>
    [['match'], ['exclude'], ['hosts', 'match'], ['hosts', 'exclude']].flatMap((keys) => {
      const text = valueAt(map, keys);
      return typeof text === 'string' && text !== '' ? [{ text, path: [...path, ...keys] }] : [];
    }),
  );
  const compiled = new Map<string, NamePattern>();
  const known = new Map<string, ReturnType<typeof compiledOrFault>>();
  const found: Found[] = [];
  if (patterns.length === 0) return { compiled, found };
  const compile = await loadPatternCompiler();
  let steps = 0;
  for (const { text, path } of patterns) {
    const result = known.get(text) ?? compiledOrFault(text, compile);
    if (!known.has(text) && 'steps' in result) {
      compiled.set(text, result);
      steps += leastSteps + result.steps;
    }
    known.set(text, result);
    const tooMuch = `is one regular expression too many: the different ones up to here come to ${steps} steps, and at most ${mostStepsTogether} are allowed`;
    const fault = 'steps' in result ? [] : result;
    const [message, help] = steps > mostStepsTogether ? [tooMuch, useFewer] : fault;
    if (message !== undefined) found.push([path, `"${String(path.at(-1))}" ${message}`, help]);
    if (steps > mostStepsTogether) break;
    await takeBreak();
  }
  return { compiled, found };
}
