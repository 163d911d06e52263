import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';

/** Names are shorter. What is behind is not searched, so that no name takes long. */
const longestSearched = 1000;

/** Each expression for itself would take up to 8 MB. */
const mostRememberedBytes = 16e6;

/** Compiles a regular expression in RE2's syntax; throws an `Error` if that is wrong. */
export type CompilePattern = (source: string) => NamePattern;

type Search = (compiled: RE2JS, name: string) => boolean;

/** Equal to another one of the same source, so that two configurations can be compared. */
class Re2Pattern implements NamePattern {
  readonly source: string;
  readonly #compiled: RE2JS;
  readonly #search: Search;

  constructor(source: string, compiled: RE2JS, search: Search) {
    this.source = source;
    this.#compiled = compiled;
    this.#search = search;
  }

  test(name: string): boolean {
    return this.#search(this.#compiled, name.slice(0, longestSearched));
  }
}

/**
 * Loads the engine, which many configurations do without. All expressions that one compiler has made
 * share what they may remember of the names they have seen.
 */
export async function loadPatternCompiler(): Promise<CompilePattern> {
  const engine = await import('re2js');
  const remembering = new Set<RE2JS>();
  let rememberedBytes = 0;
  const search: Search = (compiled, name) => {
    const before = memoryOf(compiled);
    const isFound = compiled.test(name);
    const grownBytes = memoryOf(compiled) - before;
    if (grownBytes === 0) return isFound;
    remembering.add(compiled);
    rememberedBytes += grownBytes;
    if (rememberedBytes > mostRememberedBytes) {
      for (const other of remembering) other.re2().lazyDFA.clearCache();
      remembering.clear();
      rememberedBytes = 0;
    }
    return isFound;
  };
  return (source) => new Re2Pattern(source, engine.RE2JS.compile(source), search);
}

/** How many bytes an expression uses to remember, as the engine reckons. */
function memoryOf(compiled: RE2JS): number {
  // Nothing as long as the expression was not needed, which the type does not say.
  const automaton: { maxMem: number; memBudget: number } | null = compiled.re2().lazyDFA;
  return automaton === null ? 0 : automaton.maxMem - automaton.memBudget;
}
