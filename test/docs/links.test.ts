import { existsSync } from 'node:fs';
import { join } from 'node:path';
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

describe('README.md', () => {
  it('leads to every document', () => {
    const readme = documents.find(({ path }) => path === 'README.md')?.text ?? '';
    const linked = new Set(relativeLinksIn(readme).map((link) => link.split('#')[0]));
    // development.md leads to it.
    const unlisted = new Set(['docs/mutation-testing.md']);
    const all = documents.map(({ path }) => path).filter((path) => /^docs\/[^/]+$/.test(path));

    expect(all.filter((path) => !linked.has(path) && !unlisted.has(path))).toEqual([]);
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
