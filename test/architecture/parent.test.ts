import { describe, expect, it } from 'vitest';
import { areaOf, resolveImport } from './imports-of.ts';
import { readSourceFiles } from './source-files.ts';

const texts = new Map(readSourceFiles().map(({ path, text }) => [path, text]));
const staticImport =
  /^[ \t]*(?:import|export)\b(?!\s+type\b)(?:[^'"`;()]*?\bfrom)?\s*'(?<target>[^'\n]+)'/gmu;

/** Everything that is loaded with these files: files of `src`, packages and modules of Node. */
function loadedWith(paths: readonly string[]): ReadonlySet<string> {
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

describe('the parent of a daemon', () => {
  // The entry, and what `serve --respawn` loads on demand.
  const loaded = loadedWith([
    'main.ts',
    'program.ts',
    'daemon/node-platform.ts',
    'cli/run.ts',
    'daemon/respawn.ts',
    'daemon/child-program.ts',
  ]);

  it('loads no package but those for flags and for the log', () => {
    const packages = [...loaded].filter((name) => !texts.has(name) && !name.startsWith('node:'));

    expect(packages.toSorted()).toEqual(['fastest-levenshtein', 'pino']);
  });

  it('loads nothing of the daemon that it starts', () => {
    const areas = new Set([...loaded].filter((name) => texts.has(name)).map(areaOf));
    const daemon = [...loaded].filter((name) => name.startsWith('daemon/'));

    expect([...areas].toSorted()).toEqual(
      [
        'cli',
        'config',
        'daemon',
        'main.ts',
        'model',
        'program.ts',
        'server',
        'telemetry',
      ].toSorted(),
    );
    expect(daemon.toSorted()).toEqual([
      'daemon/build.ts',
      'daemon/child-program.ts',
      'daemon/node-platform.ts',
      'daemon/platform.ts',
      'daemon/respawn.ts',
      'daemon/sharding.ts',
    ]);
    expect([...loaded].filter((name) => /^(?:config|server|transport)\//u.test(name))).toEqual([
      'config/suggestion.ts',
      'config/duration.ts',
      'server/listen-address.ts',
    ]);
  });
});
