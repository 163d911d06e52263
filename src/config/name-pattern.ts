import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';

/** Names are shorter. What is behind is not searched, so that no name takes long. */
const longestSearched = 1000;

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

/** Loads the engine, which many configurations do without. */
export async function loadPatternCompiler(): Promise<CompilePattern> {
  const engine = await import('re2js');
  // An expression remembers up to 8 MB of what it has seen: only the last one in use may do so.
  let last: RE2JS | undefined;
  const search: Search = (compiled, name) => {
    if (last !== compiled) last?.re2().lazyDFA?.clearCache();
    last = compiled;
    return compiled.test(name);
  };
  return (source) => new Re2Pattern(source, engine.RE2JS.compile(source), search);
}
