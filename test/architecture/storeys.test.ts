import { describe, expect, it } from 'vitest';
import { areaOf, importsOf, resolveImport } from './imports-of.ts';
import { loadedWith } from './loaded-with.ts';
import { readSourceFiles } from './source-files.ts';

const files = readSourceFiles();
const paths = new Set(files.map(({ path }) => path));

/** The entry, and what a daemon loads on demand: itself, its connections and the check of passwords. */
const entries = [
  'main.ts',
  'program.ts',
  'cli/run.ts',
  'daemon/node-platform.ts',
  'daemon/serve.ts',
  'daemon/password-thread.ts',
  'newrelic/calls/undici-transport.ts',
];
const otherStoreys: ReadonlySet<string> = new Set(['tools', 'demo', 'simulator']);

/** What one maintainer can hold, with 5 % of room: a change is not stopped by a line, but growth is. */
const mostFiles = 162;
const mostLines = 26_890;

describe('the daemon', () => {
  const loaded = [...loadedWith(entries, files)].filter((name) => paths.has(name));

  it('loads neither the tools nor the simulator', () => {
    expect(loaded.filter((path) => otherStoreys.has(areaOf(path)))).toEqual([]);
  });

  it('can be held in one head', () => {
    const lines = files
      .filter(({ path }) => loaded.includes(path))
      .reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);

    expect(loaded).toContain('poll/account-poller.ts');
    expect(loaded.length).toBeLessThanOrEqual(mostFiles);
    expect(lines).toBeLessThanOrEqual(mostLines);
  });

  it('does not know the others, not even their types', () => {
    const known = files
      .filter(({ path }) => loaded.includes(path) && path !== 'cli/run.ts')
      .flatMap((file) => importsOf(file).map((target) => resolveImport(file.path, target)))
      .filter((path) => otherStoreys.has(areaOf(path)));

    expect(known).toEqual([]);
  });
});

describe('the tools', () => {
  it('do not load the simulator', () => {
    const tools = [...paths].filter((path) => areaOf(path) === 'tools');
    const areas = [...loadedWith(tools, files)].filter((name) => paths.has(name)).map(areaOf);

    expect(tools.length).toBeGreaterThan(10);
    expect(areas.filter((area) => ['demo', 'simulator'].includes(area))).toEqual([]);
  });
});
