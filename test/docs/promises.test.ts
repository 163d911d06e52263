import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readDocument } from './documents.ts';

/** Where the name of a test, or of a group of tests, begins with numbers of promises. */
const named = /\b(?:describe|it)\b[^\n]*?\(\s*['"`]((?:\d{1,2}\.\d+ |(?:[1-9]|1\d) )+)/gu;
const list = /\n\n(?:`test\/.*\n)+/gu;

const { text } = readDocument('docs/dev/promises.md');
const written = text.replaceAll(list, '\n');
const promises: readonly string[] = written.match(/(?<=^\*\*)\d+(?:\.\d)?(?=\*\* )/gmu) ?? [];

/** The files whose tests name each number. */
function filesByNumber(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map<string, Set<string>>();
  for (const entry of readdirSync(join(projectFolder, 'test'), {
    recursive: true,
    encoding: 'utf8',
  })) {
    const path = `test/${entry}`;
    if (!path.endsWith('.test.ts')) continue;
    for (const [, numbers = ''] of readDocument(path).text.matchAll(named)) {
      for (const number of numbers.trim().split(' ')) {
        files.set(number, (files.get(number) ?? new Set()).add(path));
      }
    }
  }
  return files;
}

function withTests(document: string, tests: ReturnType<typeof filesByNumber>): string {
  return document.replaceAll(
    /^\*\*(\d+(?:\.\d)?)\*\* [^\n]*\n(?:[^\n]+\n)*/gmu,
    (promise, number: string) => {
      const paths = [...(tests.get(number) ?? [])].toSorted();
      const lines = paths.map((path) => `\`${path}\``).join(',\n');
      return lines === '' ? promise : `${promise}\n${lines}\n`;
    },
  );
}

describe('docs/dev/promises.md', () => {
  const tests = filesByNumber();

  it('lists the tests that name each promise (write it anew with "npx vitest run test/docs/promises.test.ts -u")', async () => {
    await expect(withTests(written, tests)).toMatchFileSnapshot('../../docs/dev/promises.md');
  });

  it.each(promises.map((number) => ({ number })))('has a test of promise $number', ({ number }) => {
    expect([...(tests.get(number) ?? [])]).not.toEqual([]);
  });

  it('has every promise that a test names', () => {
    expect(promises.length).toBeGreaterThan(20);
    expect([...tests.keys()].filter((number) => !promises.includes(number))).toEqual([]);
  });
});
