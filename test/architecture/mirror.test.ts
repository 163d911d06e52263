import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from './source-files.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));

describe('a folder of the source', () => {
  const folders = [...new Set(readSourceFiles().map(({ path }) => posix.dirname(path)))].filter(
    (folder) => folder !== '.',
  );

  it.each(folders)('has its tests in the folder of its name: %s', (folder) => {
    const names = readdirSync(`${tests}/${folder}`);

    expect(names.filter((name) => name.endsWith('.test.ts'))).not.toEqual([]);
  });
});
