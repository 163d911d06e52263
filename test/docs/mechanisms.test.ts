import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readDocument } from './documents.ts';

const mostRows = 45;

interface Mechanism {
  readonly name: string;
  readonly purpose: string;
  /** Numbers of promises, or links to pages for users. */
  readonly reasons: readonly string[];
  readonly files: readonly string[];
}

const rows: readonly Mechanism[] = readDocument('docs/dev/mechanisms.md')
  .text.split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => {
    const [name = '', purpose = '', reasons = '', files = ''] = line.slice(2, -2).split(' | ');
    return { name, purpose, reasons: reasons.split(', '), files: files.split(', ') };
  });

const promises: readonly string[] =
  readDocument('docs/dev/promises.md').text.match(/(?<=^\*\*)\d+(?:\.\d)?(?=\*\* )/gmu) ?? [];
const isPage = (reason: string): boolean => /^\[[a-z ]+\]\(\.\.\/[\w-]+\.md\)$/u.test(reason);
const isThere = (file: string): boolean =>
  /^`src\/[\w/-]+\.ts`$/u.test(file) && existsSync(join(projectFolder, file.slice(1, -1)));

describe('docs/dev/mechanisms.md', () => {
  it(`has ${mostRows} rows at most, each of another mechanism`, () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.length).toBeLessThanOrEqual(mostRows);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  it.each(rows)('says what "$name" is for, who needs it, and which files own it', (row) => {
    expect(row.purpose).not.toBe('');
    expect(row.reasons.filter((reason) => !promises.includes(reason) && !isPage(reason))).toEqual(
      [],
    );
    expect(row.files.filter((file) => !isThere(file))).toEqual([]);
  });

  it('names each promise in a row', () => {
    const named = new Set(rows.flatMap(({ reasons }) => reasons));

    expect(promises.filter((number) => !named.has(number))).toEqual([]);
  });

  it('names each file once', () => {
    const files = rows.flatMap((row) => row.files);

    expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([]);
  });
});
