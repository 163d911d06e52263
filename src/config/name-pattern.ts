import type { RE2JS } from 're2js';
import type { NamePattern } from '../model/config.ts';

/** Compiles a regular expression in RE2's syntax; throws an `Error` if it cannot be used. */
export type CompilePattern = (source: string) => NamePattern;

/** Equal to another one of the same source, so that two configurations can be compared. */
class Re2Pattern implements NamePattern {
  readonly source: string;
  readonly #compiled: RE2JS;

  constructor(source: string, compiled: RE2JS) {
    this.source = source;
    this.#compiled = compiled;
  }

  test(name: string): boolean {
    return this.#compiled.test(name);
  }
}

/** Loads the engine, which many configurations do without. */
export async function loadPatternCompiler(): Promise<CompilePattern> {
  const engine = await import('re2js');
  return (source) => new Re2Pattern(source, engine.RE2JS.compile(source));
}
