import type { Clock } from '../model/clock.ts';
import type {
  AppEntry,
  Config,
  HostSelector,
  NamePattern,
  PatternSource,
  PlainConfig,
  Selector,
} from '../model/config.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** The longest turn, besides the time for one step of the work: scrapes and probes wait for it. */
const longestTurnMs = 5;

export interface CompileConfigDependencies {
  /** Resolves after other work that waits for the thread has run. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
}

function isCompiled(entry: AppEntry<PatternSource>): entry is AppEntry {
  return entry.selector.kind !== 'match' && typeof entry.hosts === 'boolean';
}

type PatternOf = (source: string) => NamePattern;

function patternsOf(entries: readonly AppEntry[]): ReadonlyMap<string, NamePattern> {
  const patterns = new Map<string, NamePattern>();
  for (const { selector, hosts } of entries) {
    if (selector.kind === 'match') patterns.set(selector.pattern.source, selector.pattern);
    if (typeof hosts === 'object' && hosts.kind === 'match') {
      patterns.set(hosts.pattern.source, hosts.pattern);
    }
  }
  return patterns;
}

/** Compiles each text once, and none that is compiled already: 10 kB of memory for each add up. */
function onceForEach(compile: CompilePattern, inForce: readonly AppEntry[]): PatternOf {
  const known = patternsOf(inForce);
  const made = new Map<string, NamePattern>();
  return (source) => {
    const pattern = made.get(source) ?? compile(source, known.get(source));
    made.set(source, pattern);
    return pattern;
  };
}

function selectorOf({ selector }: AppEntry<PatternSource>, patternOf: PatternOf): Selector {
  if (selector.kind !== 'match') return selector;
  return { kind: 'match', pattern: patternOf(selector.pattern.source) };
}

function hostsOf(
  { hosts }: AppEntry<PatternSource>,
  patternOf: PatternOf,
  ownNames: readonly string[],
): boolean | HostSelector {
  if (typeof hosts === 'boolean') return hosts;
  if (hosts.kind === 'self') return { kind: 'self', names: ownNames };
  return { kind: 'match', pattern: patternOf(hosts.pattern.source) };
}

/** What lets other work have its turn, if the present one has taken a while. */
export function createBreaks({
  nextTurn,
  clock,
}: Pick<CompileConfigDependencies, 'clock' | 'nextTurn'>): () => Promise<void> {
  let turnStartMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) return;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  };
}

/**
 * Makes a checked configuration ready for use: compiles its patterns, in turns, and fills in the names
 * of `hosts: self`.
 *
 * @param inForce the configuration that this one replaces: patterns are shared with it
 */
export async function compileConfig(
  { accounts, apps }: PlainConfig,
  dependencies: CompileConfigDependencies,
  inForce?: Config,
): Promise<Config> {
  if (apps.every(isCompiled)) return { accounts, apps };
  const patternOf = onceForEach(await loadPatternCompiler(), inForce?.apps ?? []);
  const entries: AppEntry[] = [];
  const takeBreak = createBreaks(dependencies);
  for (const entry of apps) {
    if (isCompiled(entry)) {
      entries.push(entry);
      continue;
    }
    const selector = selectorOf(entry, patternOf);
    entries.push({
      ...entry,
      selector,
      hosts: hostsOf(entry, patternOf, dependencies.ownHostNames),
    });
    await takeBreak();
  }
  return { accounts, apps: entries };
}
