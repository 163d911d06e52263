import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readProductDocuments } from './documents.ts';
import { codeWordsIn, withoutCodeBlocks } from './markdown.ts';

const documents = readProductDocuments().filter(
  ({ path }) => path.startsWith('docs/dev/') || path === 'CONTRIBUTING.md',
);

const folders = ['src', 'test', 'dashboards', 'scripts', 'mutation', 'helm', 'deploy', 'examples'];
const paths = folders.flatMap((folder) =>
  readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path}`,
  ),
);
const words = new Set(
  paths
    .filter((path) => /\.(?:ts|mjs)$/u.test(path) && path !== 'test/docs/names.test.ts')
    .flatMap((path) => readFileSync(join(projectFolder, path), 'utf8').match(/\w+/gu) ?? []),
);

/** Of the kernel; and what a build makes. */
const foreign: ReadonlySet<string> = new Set(['VmHWM', 'dist-bundle/newrelic-exporter.mjs']);

/** Names in backticks that no code has: `Source.cost` is two, `queue.ts` is a file. */
function strangersIn(text: string): readonly string[] {
  return codeWordsIn(withoutCodeBlocks(text)).filter((word) => {
    if (foreign.has(word)) return false;
    if (/^[\w./-]+\.(?:ts|mjs)$/u.test(word)) {
      return !paths.some((path) => path === word || path.endsWith(`/${word}`));
    }
    const isName = /^[A-Za-z]\w*(?:\.\w+)*$/u.test(word) && /[a-z][A-Z]|^[A-Z][a-z]/u.test(word);
    return isName && word.split('.').some((one) => !words.has(one));
  });
}

describe('names in the prose for maintainers', () => {
  it.each(documents)('$path: each is in the code', ({ text }) => {
    expect(strangersIn(text)).toEqual([]);
  });

  it.each([
    { text: 'a `Source.cost` of `src/model/source.ts`, `states.ts`', strangers: [] },
    { text: 'a `QueryTable` and `Source.priceOf`', strangers: ['QueryTable', 'Source.priceOf'] },
    { text: 'the file `src/poll/situations.ts`', strangers: ['src/poll/situations.ts'] },
  ])('$text', ({ text, strangers }) => {
    expect(strangersIn(text)).toEqual(strangers);
  });
});
