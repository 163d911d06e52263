import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { readSourceFiles } from './source-files.ts';

/** A declaration at the top level of a file. A type has `=`: those of GraphQL in a text have none. */
const declaration =
  /^(?:export )?(?:abstract )?(?:async )?(?:(?:const|let|function\*?|interface|class) (?<name>\w+)|type (?<type>\w+)(?=[<\s][^{]*=))/gmu;

const mostTwice = 80;

function filesByName(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { path, text } of readSourceFiles()) {
    for (const { groups } of text.matchAll(declaration)) {
      const name = groups?.['name'] ?? groups?.['type'] ?? '';
      found.set(name, (found.get(name) ?? new Set()).add(path));
    }
  }
  return new Map([...found].map(([name, files]) => [name, [...files]]));
}

const words: readonly string[] = (
  /^## Words\n.*?(?=^## )/msu.exec(readDocument('docs/dev/architecture.md').text)?.[0] ?? ''
)
  .split('\n')
  .flatMap((line) => /^\| (?<word>[a-z]+) \|/u.exec(line)?.groups?.['word'] ?? [])
  .slice(1);

const twice = [...filesByName()].filter(([, files]) => files.length > 1);

describe('names at the top level of files', () => {
  it(`are declared in two files at most ${mostTwice} times`, () => {
    expect(filesByName().size).toBeGreaterThan(2000);
    expect(twice.map(([name]) => name).length).toBeLessThanOrEqual(mostTwice);
  });

  it('that are words of the glossary are declared in one file only', () => {
    expect(words).toHaveLength(20);
    expect(twice.filter(([name]) => words.includes(name.toLowerCase()))).toEqual([]);
  });
});
