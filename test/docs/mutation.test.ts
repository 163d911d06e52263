import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readDocument } from './documents.ts';

/** The files that a shell script names, one by one or as `folder/{one,other}.ts`. */
function filesIn(script: string): readonly string[] {
  const names = script.matchAll(/\bsrc\/([a-z-]+)\/(?:\{([^}]*)\}|([a-z-]+))\.ts\b/gu);
  return [...names].flatMap(([, folder = '', several, one = '']) =>
    (several?.split(',') ?? [one]).map((name) => `src/${folder}/${name}.ts`),
  );
}

const isMissing = (path: string): boolean => !existsSync(join(projectFolder, path));

describe('mutation/run', () => {
  const files = filesIn(readDocument('mutation/run').text);

  it('changes only files that exist', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter(isMissing)).toEqual([]);
  });
});

describe('docs/mutation-testing.md', () => {
  it('tells of no file that is gone', () => {
    const { text } = readDocument('docs/mutation-testing.md');

    expect(filesIn(text).filter(isMissing)).toEqual([]);
  });
});

describe('filesIn', () => {
  it('finds single files and lists of them', () => {
    expect(filesIn('src/a/one.ts "$(echo src/b/{two,three-four}.ts)"')).toEqual([
      'src/a/one.ts',
      'src/b/two.ts',
      'src/b/three-four.ts',
    ]);
  });
});
