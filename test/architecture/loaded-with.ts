import { resolveImport } from './imports-of.ts';
import type { SourceFile } from './source-files.ts';

const staticImport =
  /^[ \t]*(?:import|export)\b(?!\s+type\b)(?:[^'"`;()]*?\bfrom)?\s*'(?<target>[^'\n]+)'/gmu;

/** Everything that is loaded together with some files: files of `src`, packages, modules of Node. */
export function loadedWith(
  paths: readonly string[],
  files: readonly SourceFile[],
): ReadonlySet<string> {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { groups } of (texts.get(path) ?? '').matchAll(staticImport)) {
      const target = groups?.['target'] ?? '';
      load(target.startsWith('.') ? resolveImport(path, target) : target);
    }
  };
  for (const path of paths) load(path);
  return loaded;
}
