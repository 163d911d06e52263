import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readDocuments } from './documents.ts';
import { anchorsOf, brokenLinksOf, relativeLinksIn } from './link-rule.ts';

const documents = readDocuments();

describe('the links of the documents', () => {
  it('are found', () => {
    expect(documents.flatMap(({ text }) => relativeLinksIn(text)).length).toBeGreaterThan(20);
  });

  it.each(documents)('$path: every one leads to a file and a heading', (document) => {
    const exists = (path: string): boolean => existsSync(join(projectFolder, path));

    expect(brokenLinksOf(document, documents, exists)).toEqual([]);
  });
});

describe.each([
  { index: 'README.md', folder: 'docs' },
  { index: 'docs/dev/README.md', folder: 'docs/dev' },
])('$index', ({ index, folder }) => {
  it(`leads to every document of ${folder}`, () => {
    const text = documents.find(({ path }) => path === index)?.text ?? '';
    const linked = new Set(
      relativeLinksIn(text).map((link) =>
        posix.join(posix.dirname(index), link.split('#')[0] ?? ''),
      ),
    );
    const all = documents.map(({ path }) => path).filter((path) => posix.dirname(path) === folder);

    expect(all.filter((path) => path !== index && !linked.has(path))).toEqual([]);
  });
});

describe('brokenLinksOf', () => {
  const other = { path: 'docs/other.md', text: '# What `it` costs, or not\n' };
  const exists = (path: string): boolean => ['docs/a.md', other.path, 'README.md'].includes(path);

  it.each([
    { link: 'other.md', broken: false },
    { link: '../README.md', broken: false },
    { link: 'other.md#what-it-costs-or-not', broken: false },
    { link: '#here', broken: false },
    { link: 'https://example.com/x.md', broken: false },
    { link: 'missing.md', broken: true },
    { link: '../other.md', broken: true },
    { link: 'other.md#missing', broken: true },
    { link: '#missing', broken: true },
  ])('calls $link broken: $broken', ({ link, broken }) => {
    const document = { path: 'docs/a.md', text: `# Here\n\nSee [this](${link}).\n` };

    const found = brokenLinksOf(document, [document, other], exists);

    expect(found).toEqual(broken ? [link] : []);
  });

  it('numbers headings that are alike, as GitHub does', () => {
    expect([...anchorsOf('# One\n\n## One\n')]).toEqual(['one', 'one-1']);
  });
});
