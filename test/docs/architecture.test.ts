import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { areaOf, importsOf, resolveImport } from '../architecture/imports-of.ts';
import { readSourceFiles } from '../architecture/source-files.ts';
import { projectFolder, readDocument } from './documents.ts';
import { codeWordsIn, headingsIn, rowsWith, sectionOf } from './markdown.ts';

const { text } = readDocument('docs/dev/architecture.md');

/** A step of a journey: a file, and what to look for in it. */
interface Step {
  readonly file: string;
  readonly name: string;
}

function journeysIn(section: string): ReadonlyMap<string, readonly Step[]> {
  const titles = headingsIn(section).map(({ title }) => title);
  return new Map(
    titles.map((title) => [
      title,
      rowsWith(sectionOf(section, title), ['file', 'what happens']).map((row) => ({
        file: codeWordsIn(row['file'] ?? '')[0] ?? '',
        name: codeWordsIn(row['what happens'] ?? '')[0] ?? '',
      })),
    ]),
  );
}

describe('the table of the layers', () => {
  it('has every folder of the source, and no other', () => {
    const rows = rowsWith(sectionOf(text, 'Layers'), ['folder']);
    const named = rows.flatMap(({ folder }) => codeWordsIn(folder));
    const areas = new Set(readSourceFiles().map(({ path }) => areaOf(path)));
    const folders = [...areas].filter((name) => !name.endsWith('.ts')).map((name) => `src/${name}`);

    expect(named.filter((name) => !name.endsWith('.ts')).toSorted()).toEqual(folders.toSorted());
  });
});

describe('the five journeys', () => {
  const journeys = journeysIn(sectionOf(text, 'Five journeys'));
  const sources = readSourceFiles();
  const neighbours = new Map<string, Set<string>>();
  const connect = (one: string, other: string): void => {
    neighbours.set(one, (neighbours.get(one) ?? new Set()).add(other));
  };
  for (const { path, ...file } of sources) {
    for (const target of importsOf(file).filter((one) => one.startsWith('.'))) {
      const imported = resolveImport(path, target);
      connect(path, imported);
      connect(imported, path);
    }
  }
  const neighboursOf = (file: string): ReadonlySet<string> =>
    neighbours.get(file.replace(/^src\//, '')) ?? new Set();
  // What two rooms know of each other is an interface in the model, or their composition.
  const isMeetingPoint = (path: string): boolean =>
    !path.startsWith('model/') ||
    ['model/permit.ts', 'model/source.ts', 'model/snapshot.ts', 'model/status.ts'].includes(path);
  const isJoined = (left: string, right: string): boolean =>
    neighboursOf(left).has(right.replace(/^src\//, '')) ||
    [...neighboursOf(left)].some((one) => isMeetingPoint(one) && neighboursOf(right).has(one));

  it('are five, of eighteen files at most', () => {
    expect([...journeys.values()].map(({ length }) => length >= 4 && length <= 18)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  it.each([...journeys].flatMap(([, steps]) => steps))('find $name in $file', ({ file, name }) => {
    expect(readFileSync(join(projectFolder, file), 'utf8')).toMatch(
      new RegExp(`^(?:export )?(?:async )?(?:function\\*?|class|const) ${name}\\b`, 'm'),
    );
  });

  it.each([...journeys])('go from files that were named to the next on %s', (_title, steps) => {
    const gaps = steps
      .slice(1)
      .filter(
        ({ file }, index) => !steps.slice(0, index + 1).some((step) => isJoined(step.file, file)),
      )
      .map(({ file }) => file);

    expect(gaps).toEqual([]);
  });
});
