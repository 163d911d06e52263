import type { Clock } from '../model/clock.ts';
import type {
  AppEntry,
  Config,
  HostSelector,
  PatternSource,
  PlainConfig,
  Selector,
} from '../model/config.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** The longest turn, besides the time for one pattern: scrapes and probes wait for it. */
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

function selectorOf({ selector }: AppEntry<PatternSource>, compile: CompilePattern): Selector {
  if (selector.kind !== 'match') return selector;
  return { kind: 'match', pattern: compile(selector.pattern.source) };
}

function hostsOf(
  { hosts }: AppEntry<PatternSource>,
  compile: CompilePattern,
  ownNames: readonly string[],
): boolean | HostSelector {
  if (typeof hosts === 'boolean') return hosts;
  if (hosts.kind === 'self') return { kind: 'self', names: ownNames };
  return { kind: 'match', pattern: compile(hosts.pattern.source) };
}

/**
 * Makes a checked configuration ready for use: compiles its patterns, in turns, and fills in the names
 * of `hosts: self`.
 */
export async function compileConfig(
  { accounts, apps }: PlainConfig,
  { nextTurn, clock, ownHostNames }: CompileConfigDependencies,
): Promise<Config> {
  if (apps.every(isCompiled)) return { accounts, apps };
  const compile = await loadPatternCompiler();
  const entries: AppEntry[] = [];
  let turnStartMs = clock.monotonicMs();
  for (const entry of apps) {
    if (isCompiled(entry)) {
      entries.push(entry);
      continue;
    }
    const selector = selectorOf(entry, compile);
    entries.push({ ...entry, selector, hosts: hostsOf(entry, compile, ownHostNames) });
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) continue;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  }
  return { accounts, apps: entries };
}
