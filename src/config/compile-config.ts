import type { AppEntry, Config, PatternSource, PlainConfig } from '../model/config.ts';
import { type CompilePattern, loadPatternCompiler } from './name-pattern.ts';

/** How many patterns are compiled at once: some milliseconds of work. */
const patternsPerTurn = 100;

export interface CompileConfigDependencies {
  /** Lets everything else that waits for the thread go first. */
  readonly nextTurn: () => Promise<void>;
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
  { nextTurn }: CompileConfigDependencies,
): Promise<Config> {
  if (apps.every(needsNothing)) return { accounts, apps };
  const compile = await loadPatternCompiler();
  const entries: AppEntry[] = [];
  let patterns = 0;
  for (const entry of apps) {
    if (needsNothing(entry)) {
      entries.push(entry);
      continue;
    }
    entries.push(compiled(entry, compile));
    patterns += 1;
    if (patterns % patternsPerTurn === 0) await nextTurn();
  }
  return { accounts, apps: entries };
}
