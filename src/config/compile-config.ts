import type { Clock } from '../model/clock.ts';
import type { AppEntry, Config, PatternSource, PlainConfig } from '../model/config.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** Scrapes and probes wait no longer than this, and as long as one pattern takes. */
const longestTurnMs = 5;

export interface CompileConfigDependencies {
  /** Lets everything else that waits for the thread go first. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

function needsNothing(entry: AppEntry<PatternSource>): entry is AppEntry {
  return entry.selector.kind !== 'match';
}

function compiled(entry: AppEntry<PatternSource>, compile: CompilePattern): AppEntry {
  const { selector } = entry;
  if (selector.kind !== 'match') return { ...entry, selector };
  return { ...entry, selector: { kind: 'match', pattern: compile(selector.pattern.source) } };
}

/** Makes a configuration that has passed every check ready for use: compiles its patterns, in slices. */
export async function compileConfig(
  { accounts, apps }: PlainConfig,
  { nextTurn, clock }: CompileConfigDependencies,
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
    entries.push(compiled(entry, compile));
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) continue;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  }
  return { accounts, apps: entries };
}
