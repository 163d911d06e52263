import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readDocument } from './documents.ts';
import { rowsWith } from './markdown.ts';

interface Proof {
  readonly file: string;
  readonly title: string;
}

/** The tests that a cell names, as `file`: title, with a line break between them. */
function proofsIn(cell: string): readonly Proof[] {
  return cell.split('<br>').flatMap((text) => {
    const [, file, title] = /^`([^`]+)`: (.+)$/u.exec(text) ?? [];
    return file === undefined || title === undefined ? [] : [{ file, title }];
  });
}

/** Whether the source has a test of exactly this title. */
function hasTest(source: string, title: string): boolean {
  const marks = source.matchAll(/(?:\bit|\))\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/gu);
  return [...marks].some(([, , written]) => written?.replaceAll(/\\(.)/gu, '$1') === title);
}

const rows = rowsWith(readDocument('docs/faults.md').text, ['fault', 'behaviour', 'tests']);
const proofs = rows.flatMap(({ tests }) => proofsIn(tests));

describe('docs/faults.md', () => {
  it('has a behaviour and a test for every fault', () => {
    const bare = rows.filter(
      ({ behaviour, tests }) =>
        behaviour === '' || proofsIn(tests).length !== tests.split('<br>').length,
    );

    expect(rows.length).toBeGreaterThan(60);
    expect(bare).toEqual([]);
  });

  it.each(proofs)('names a test that exists: $file: $title', ({ file, title }) => {
    const path = join(projectFolder, file);

    expect(existsSync(path)).toBe(true);
    expect(hasTest(readFileSync(path, 'utf8'), title)).toBe(true);
  });

  it('names every test of test/faults, but those of the tools themselves', () => {
    const named = new Set(proofs.map(({ file }) => file));
    const files = readdirSync(join(projectFolder, 'test/faults'))
      .filter((name) => name.endsWith('.test.ts') && name !== 'faults.test.ts')
      .map((name) => `test/faults/${name}`);

    expect(files.filter((file) => !named.has(file))).toEqual([]);
  });
});

describe('hasTest', () => {
  const source =
    "it('does this', () => {});\nit.each([\n  { a: 1 },\n])(\n  \"does $a's that\",\n  run);";

  it.each([
    { title: 'does this', expected: true },
    { title: "does $a's that", expected: true },
    { title: 'does', expected: false },
    { title: 'does that', expected: false },
  ])('finds whole titles only: $title', ({ title, expected }) => {
    expect(hasTest(source, title)).toBe(expected);
  });
});
