import { describe, expect, it } from 'vitest';
import { areaOf } from './imports-of.ts';
import { loadedWith } from './loaded-with.ts';
import { readSourceFiles } from './source-files.ts';

const files = readSourceFiles();
const texts = new Map(files.map(({ path, text }) => [path, text]));

describe('the parent of a daemon', () => {
  // The entry, and what `serve --respawn` loads on demand.
  const loaded = loadedWith(
    ['main.ts', 'program.ts', 'daemon/node-platform.ts', 'cli/run.ts', 'daemon/respawn.ts'],
    files,
  );

  it('loads no package but those for flags and for the log', () => {
    const packages = [...loaded].filter((name) => !texts.has(name) && !name.startsWith('node:'));

    expect(packages.toSorted()).toEqual(['commander', 'fastest-levenshtein', 'pino']);
  });

  it('loads nothing of the daemon that it starts', () => {
    const areas = new Set([...loaded].filter((name) => texts.has(name)).map(areaOf));
    const daemon = [...loaded].filter((name) => name.startsWith('daemon/'));

    expect([...areas].toSorted()).toEqual(
      ['cli', 'config', 'daemon', 'main.ts', 'model', 'program.ts', 'publish', 'web'].toSorted(),
    );
    expect(daemon.toSorted()).toEqual([
      'daemon/build.ts',
      'daemon/node-platform.ts',
      'daemon/platform.ts',
      'daemon/respawn.ts',
      'daemon/sharding.ts',
    ]);
    expect([...loaded].filter((name) => /^(?:config|web|transport)\//u.test(name))).toEqual([
      'config/suggestion.ts',
      'config/duration.ts',
      'web/listen-address.ts',
    ]);
  });
});
