import type { Clock } from '../model/clock.ts';
import type {
  AppEntry,
  Config,
  HostSelector,
  PatternSource,
  PlainConfig,
  Selector,
} from '../model/config.ts';
import { type CompiledPattern, type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

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

/** Compiles each text once: 10 kB of memory for each add up. */
function onceForEach(compile: CompilePattern): CompilePattern {
  const made = new Map<string, CompiledPattern>();
  return (source) => {
    const pattern = made.get(source) ?? compile(source);
    made.set(source, pattern);
    return pattern;
  };
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
 */
export async function compileConfig(
  { accounts, apps }: PlainConfig,
  dependencies: CompileConfigDependencies,
): Promise<Config> {
  if (apps.every(isCompiled)) return { accounts, apps };
  const compile = onceForEach(await loadPatternCompiler());
  const takeBreak = createBreaks(dependencies);
  const entries: AppEntry[] = [];
  for (const entry of apps) {
    if (isCompiled(entry)) {
      entries.push(entry);
      continue;
    }
    const selector = selectorOf(entry, compile);
    const hosts = hostsOf(entry, compile, dependencies.ownHostNames);
    entries.push({ ...entry, selector, hosts });
    await takeBreak();
  }
  return { accounts, apps: entries };
}
