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

/** Scrapes and probes wait no longer than this, and as long as one pattern takes. */
const longestTurnMs = 5;

export interface CompileConfigDependencies {
  /** Lets everything else that waits for the thread go first. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
}

function needsNothing(entry: AppEntry<PatternSource>): entry is AppEntry {
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
 * Makes a configuration that has passed every check ready for use: compiles its patterns, in slices,
 * and tells `hosts: self` which host that is.
 */
export async function compileConfig(
  { accounts, apps }: PlainConfig,
  { nextTurn, clock, ownHostNames }: CompileConfigDependencies,
): Promise<Config> {
  if (apps.every(needsNothing)) return { accounts, apps };
  const compile = await loadPatternCompiler();
  const entries: AppEntry[] = [];
  let turnStartMs = clock.monotonicMs();
  for (const entry of apps) {
    if (needsNothing(entry)) {
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
