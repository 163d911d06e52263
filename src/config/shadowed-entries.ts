import type { AppEntry, NamePattern, PatternSource, PlainConfig } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** A search takes microseconds, a pattern a millisecond. A larger file is checked as far as this goes. */
const mostSearches = 20_000;
const mostPatterns = 100;

/** Patterns that match every name. */
const everything: ReadonlySet<string> = new Set(
  ['', '.', '.*', '.+', '(?s).*', '(?s:.*)'].flatMap((body) => [body, `^${body}`, `^${body}$`]),
);

type Entry = AppEntry<PatternSource>;

/** The entries of one account that later entries are compared with. */
interface Earlier {
  readonly selectors: Set<string>;
  readonly patterns: { readonly text: string; readonly pattern: NamePattern }[];
  catchAll: string | undefined;
}

function createFinder(compile: CompilePattern | undefined): (entry: Entry) => string | undefined {
  const accounts = new Map<string, Earlier>();
  let searches = 0;
  let patterns = 0;

  const takerOf = (name: string, earlier: Earlier): string | undefined =>
    earlier.patterns.find(({ pattern }) => {
      searches += 1;
      return searches <= mostSearches && pattern.test(name);
    })?.text;

  return ({ account, selector }) => {
    const text = selectorText(selector);
    const earlier = accounts.get(account) ?? {
      selectors: new Set<string>(),
      patterns: [],
      catchAll: undefined,
    };
    accounts.set(account, earlier);
    if (earlier.selectors.has(text)) return `an earlier entry already has the selector ${text}`;
    if (earlier.catchAll !== undefined) {
      return `the earlier entry ${earlier.catchAll} already selects every application`;
    }
    earlier.selectors.add(text);
    if (selector.kind === 'match') {
      const { source } = selector.pattern;
      if (everything.has(source)) earlier.catchAll = text;
      patterns += 1;
      if (compile !== undefined && patterns <= mostPatterns) {
        earlier.patterns.push({ text, pattern: compile(source) });
      }
    }
    const taker = selector.kind === 'name' ? takerOf(selector.name, earlier) : undefined;
    if (taker === undefined) return undefined;
    return `the earlier entry ${taker} already selects this application`;
  };
}

/**
 * Entries of which the file alone tells that they have no effect, each with the reason: an earlier one
 * has the same selector, or a pattern that matches the name.
 */
export async function shadowedEntries({ apps }: PlainConfig): Promise<ReadonlyMap<Entry, string>> {
  const hasPatterns = apps.some(({ selector }) => selector.kind === 'match');
  const shadowOf = createFinder(hasPatterns ? await loadPatternCompiler() : undefined);
  const reasons = apps.map((entry) => [entry, shadowOf(entry)] as const);
  return new Map(
    reasons.flatMap(([entry, reason]) => (reason === undefined ? [] : [[entry, reason]])),
  );
}
