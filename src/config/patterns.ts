import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';
import {
  type Found,
  isPlainMap,
  mapsUnder,
  type PlacedText,
  type PlainMap,
  textAt,
} from './yaml-document.ts';

/** Longer than real names. Only this part is searched, so that no name takes long. */
const longestSearched = 1000;

/** For all expressions together. Each one alone would take up to 8 MB. */
const maxCachedBytes = 16e6;

/** Compiles a regular expression in RE2's syntax. Throws an `Error` if the syntax is wrong. */
export type CompilePattern = (source: string) => CompiledPattern;

export interface CompiledPattern extends NamePattern {
  /** What a search may have to do for each character of a name. */
  readonly steps: number;
}

type Search = (compiled: RE2JS, name: string) => boolean;

/** Equal to another pattern with the same source, so that configurations can be compared. */
class Re2Pattern implements CompiledPattern {
  readonly source: string;
  readonly #compiled: RE2JS;
  readonly #search: Search;

  constructor(source: string, compiled: RE2JS, search: Search) {
    this.source = source;
    this.#compiled = compiled;
    this.#search = search;
  }

  get steps(): number {
    return this.#compiled.programSize();
  }

  test(name: string): boolean {
    return this.#search(this.#compiled, name.slice(0, longestSearched));
  }
}

/**
 * Loads the engine, which many configurations do not need. All expressions of one compiler share one
 * limit for the memory of their caches.
 */
export async function loadPatternCompiler(): Promise<CompilePattern> {
  const engine = await import('re2js');
  const cached = new Set<RE2JS>();
  let cachedBytes = 0;
  const search: Search = (compiled, name) => {
    const before = cacheBytesOf(compiled);
    const isFound = compiled.test(name);
    const grownBytes = cacheBytesOf(compiled) - before;
    if (grownBytes === 0) return isFound;
    cached.add(compiled);
    cachedBytes += grownBytes;
    if (cachedBytes > maxCachedBytes) {
      for (const other of cached) other.re2().lazyDFA.clearCache();
      cached.clear();
      cachedBytes = 0;
    }
    return isFound;
  };
  return (source) => new Re2Pattern(source, engine.RE2JS.compile(source), search);
}

/** The bytes in the cache of an expression, by the engine's own count. */
function cacheBytesOf(compiled: RE2JS): number {
  // `null` until the expression is used for the first time, contrary to its type.
  const automaton: { maxMem: number; memBudget: number } | null = compiled.re2().lazyDFA;
  return automaton === null ? 0 : automaton.maxMem - automaton.memBudget;
}

const mostCharacters = 2000;

/**
 * With every count written out. The engine itself refuses only what takes more than a million steps,
 * for which it needs seconds and 150 MB.
 */
const mostWrittenOut = 50_000;

/** A search takes at most this many steps for each character of a name. */
const mostSteps = 2000;

/**
 * Of all expressions together, each text once: what they are compiled to takes 20 MB at most. A reload
 * may need that twice.
 */
const mostStepsTogether = 200_000;
/** What the smallest expression takes, in steps. */
const leastSteps = 100;

/** Constructs of JavaScript that RE2 does not have, recognized by what the engine names. */
const remedies: readonly (readonly [construct: RegExp, message: string, help: string])[] = [
  [
    /^\(\?<?[=!]/u,
    'RE2 syntax has no look-around',
    'to leave out what matches, put an entry with "exclude: true" before this one',
  ],
  [/^\\[1-9k]/u, 'RE2 syntax has no back-references', 'write the group again'],
  [/^[*+?]$/u, 'nothing stands before the sign of repetition', 'for any text write ".*"'],
  [/^\\u/u, 'RE2 syntax has no \\u', 'write the character itself, or its code point as \\x{1F600}'],
];

/** What is wrong with an expression, as a predicate, and what helps. */
type Fault = readonly [message: string, help: string];

/** The engine's message names the part that it does not understand. */
function syntaxFault(error: unknown): Fault {
  const text = error instanceof Error ? error.message : String(error);
  const match = /^(?:error parsing regexp: )?(?<reason>.*?)(?:: `(?<found>.*)`)?$/su.exec(text);
  const { reason = text, found = '' } = match?.groups ?? {};
  const [, message = reason, help = 'the syntax is that of RE2, as in Prometheus'] =
    remedies.find(([construct]) => construct.test(found)) ?? [];
  return [`is not a valid regular expression: ${message}`, help];
}

function tooLarge(what: string, most: number): Fault {
  const message = `is too large a regular expression: ${what}, and at most ${most} are allowed`;
  return [message, 'use smaller counts, or several entries'];
}

/** How often the engine repeats a part of the expression at most, by its counts. Groups may be nested. */
function mostRepeated(source: string): number {
  let largest = 1;
  let ofGroups = 1;
  for (const [, group, least, most] of source.matchAll(/(\))?\{(\d+)(?:,(\d+))?/gu)) {
    const count = Number(most ?? least);
    if (group === undefined) largest = Math.max(largest, count);
    else ofGroups *= Math.max(count, 1);
  }
  // More than that is refused by the engine.
  return Math.min(largest * ofGroups, 1000);
}

function checked(source: string, compile: CompilePattern): Fault | CompiledPattern {
  const { length } = source;
  if (length > mostCharacters) return tooLarge(`it has ${length} characters`, mostCharacters);
  const writtenOut = length * mostRepeated(source);
  if (writtenOut > mostWrittenOut) {
    return tooLarge(`its counts make it up to ${writtenOut} characters long`, mostWrittenOut);
  }
  try {
    const pattern = compile(source);
    const { steps } = pattern;
    return steps > mostSteps ? tooLarge(`it comes to ${steps} steps`, mostSteps) : pattern;
  } catch (error) {
    return syntaxFault(error);
  }
}

/** What comes too much, as the different expressions up to here are added. */
function tooManyTogether(steps: number): Fault {
  const message =
    `is one regular expression too many: the different ones up to here come to ${steps} steps, ` +
    `counting ${leastSteps} more for each, and at most ${mostStepsTogether} are allowed`;
  return [message, 'select by id or name, or by fewer patterns such as "^(?:a|b)-"'];
}

/** The regular expressions of the entries and of their hosts. Empty ones are left to the schema. */
function writtenPatterns(written: PlainMap): readonly PlacedText[] {
  return mapsUnder(written, 'apps').flatMap(({ map, path }) =>
    [
      { map, path },
      { map: map['hosts'], path: [...path, 'hosts'] },
    ].flatMap(({ map: of, path: at }) =>
      ['match', 'exclude'].flatMap((key) => {
        const pattern = isPlainMap(of) ? textAt({ map: of, path: at }, key) : undefined;
        return pattern === undefined || pattern.text === '' ? [] : [pattern];
      }),
    ),
  );
}

/** The regular expressions of a file, each text compiled once. */
export interface Patterns {
  /** By their texts; complete if nothing was found. */
  readonly compiled: ReadonlyMap<string, CompiledPattern>;
  /** Those that cannot be used, and the first that does not fit into the memory for all of them. */
  readonly found: readonly Found[];
}

export async function compilePatterns(
  written: PlainMap,
  takeBreak: () => Promise<void>,
): Promise<Patterns> {
  const patterns = writtenPatterns(written);
  const compiled = new Map<string, CompiledPattern>();
  const faults = new Map<string, Fault>();
  const found: Found[] = [];
  if (patterns.length === 0) return { compiled, found };
  const compile = await loadPatternCompiler();
  let steps = 0;
  for (const { text, path } of patterns) {
    if (!compiled.has(text) && !faults.has(text)) {
      const result = checked(text, compile);
      if ('steps' in result) {
        compiled.set(text, result);
        steps += leastSteps + result.steps;
      } else faults.set(text, result);
    }
    const isTooMuch = steps > mostStepsTogether;
    const [message, help] = (isTooMuch ? tooManyTogether(steps) : faults.get(text)) ?? [];
    if (message !== undefined) found.push([path, `"${String(path.at(-1))}" ${message}`, help]);
    if (isTooMuch) break;
    await takeBreak();
  }
  return { compiled, found };
}
