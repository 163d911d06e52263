import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from './source-files.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));

/** Test files of a folder that are not named after one of the files, or after one and a topic. */
function strangersAmong(names: readonly string[], files: readonly string[]): readonly string[] {
  return names.filter((name) => {
    const subject = name.replace(/(?:\.long)?\.test\.ts$/u, '');
    return !files.some((file) => subject === file || subject.startsWith(`${file}-`));
  });
}

describe('the tests of a folder of the source', () => {
  const sources = readSourceFiles().map(({ path }) => path);
  const folders = [...new Set(sources.map((path) => posix.dirname(path)))].filter(
    (folder) => folder !== '.',
  );

  it.each(folders)('are named after what they test: %s', (folder) => {
    const names = readdirSync(`${tests}/${folder}`).filter((name) => name.endsWith('.test.ts'));
    const files = sources
      .filter((path) => posix.dirname(path) === folder)
      .map((path) => posix.basename(path, '.ts'));

    expect(names.length).toBeGreaterThan(0);
    expect(strangersAmong(names, files)).toEqual([]);
  });

  it('would be found if they were not', () => {
    const names = ['page.test.ts', 'page-golden.test.ts', 'page.long.test.ts', 'pages.test.ts'];

    expect(strangersAmong(names, ['page', 'render'])).toEqual(['pages.test.ts']);
  });
});
