import type { AppEntry, NamePattern, PatternSource, PlainConfig } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import type { At } from './located.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** A search takes microseconds, and a pattern a millisecond. A larger file is checked as far as this goes. */
const mostSearches = 20_000;
const mostPatterns = 100;

/** Patterns that match every name. */
const everything: ReadonlySet<string> = new Set(
  ['', '.', '.*', '.+', '(?s).*', '(?s:.*)'].flatMap((body) => [body, `^${body}`, `^${body}$`]),
);

type Entry = AppEntry<PatternSource>;

interface EarlierPattern {
  readonly entry: Entry;
  /** `undefined` if there are too many. */
  readonly compiled: NamePattern | undefined;
}

/** The entries of one account that later entries are compared with. */
interface Earlier {
  readonly selectors: Set<string>;
  readonly patterns: EarlierPattern[];
  catchAll: Entry | undefined;
}

/** Why an entry has no effect, and what to do about it. */
interface Shadow {
  readonly message: string;
  readonly help: string;
}

const reorder = 'put this entry before that one, or remove it';

function createFinder(compile: CompilePattern): (entry: Entry) => Shadow | undefined {
  const accounts = new Map<string, Earlier>();
  let searches = 0;
  let patterns = 0;

  const matching = (name: string, earlier: Earlier): Entry | undefined => {
    for (const { entry, compiled } of earlier.patterns) {
      searches += 1;
      if (searches > mostSearches) return undefined;
      if (compiled?.test(name) === true) return entry;
    }
    return undefined;
  };
  const remember = (entry: Entry, earlier: Earlier): void => {
    earlier.selectors.add(selectorText(entry.selector));
    if (entry.selector.kind !== 'match') return;
    const { source } = entry.selector.pattern;
    patterns += 1;
    const compiled = patterns > mostPatterns ? undefined : compile(source);
    earlier.patterns.push({ entry, compiled });
    if (everything.has(source)) earlier.catchAll ??= entry;
  };

  return (entry) => {
    const earlier: Earlier = accounts.get(entry.account) ?? {
      selectors: new Set(),
      patterns: [],
      catchAll: undefined,
    };
    accounts.set(entry.account, earlier);
    const { selector } = entry;
    const text = selectorText(selector);
    if (earlier.selectors.has(text)) {
      const message = `an earlier entry already has the selector ${text}: this one has no effect`;
      return { message, help: 'remove one of them' };
    }
    if (earlier.catchAll !== undefined) {
      const taker = selectorText(earlier.catchAll.selector);
      const message = `the earlier entry ${taker} already selects every application: this one has no effect`;
      return { message, help: reorder };
    }
    const taker = selector.kind === 'name' ? matching(selector.name, earlier) : undefined;
    remember(entry, earlier);
    if (taker === undefined) return undefined;
    const message = `the earlier entry ${selectorText(taker.selector)} already selects this application: this one has no effect`;
    return { message, help: reorder };
  };
}

function neverUsed(): never {
  throw new Error('the configuration has no pattern');
}

/**
 * Entries of which the file alone tells that they have no effect: an earlier one has the same selector, or
 * a pattern that matches the name.
 */
export async function shadowedEntries({ apps }: PlainConfig, at: At): Promise<readonly Problem[]> {
  const hasPatterns = apps.some(({ selector }) => selector.kind === 'match');
  const shadowOf = createFinder(hasPatterns ? await loadPatternCompiler() : neverUsed);
  return apps.flatMap((entry, index) => {
    const shadow = shadowOf(entry);
    if (shadow === undefined) return [];
    const { message, help } = shadow;
    return [warningAt(at('apps', index, entry.selector.kind)?.span, message, help)];
  });
}
