import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';

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
