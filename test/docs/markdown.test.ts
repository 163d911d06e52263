import { describe, expect, it } from 'vitest';
import { readDocuments } from './documents.ts';
import {
  codeBlocksIn,
  codeWordsIn,
  headingsIn,
  rowsWith,
  sectionOf,
  tablesIn,
} from './markdown.ts';

const sample = [
  '# Title',
  '',
  '## One',
  '',
  '| key | default |',
  '| --- | --- |',
  '| `a` or `b` | `60s` |',
  '| `c` | |',
  '',
  '1. A list:',
  '',
  '   ```yaml',
  '   # not a heading',
  '   apps:',
  '     - id: 1',
  '   ```',
  '',
  '### Deeper',
  '',
  'Text.',
  '',
  '## Two',
  '',
].join('\n');

describe('the reader of Markdown', () => {
  it('finds tables and the words in backticks', () => {
    expect(tablesIn(sample)).toEqual([
      {
        header: ['key', 'default'],
        rows: [
          ['`a` or `b`', '`60s`'],
          ['`c`', ''],
        ],
      },
    ]);
    expect(codeWordsIn('`a` or `b`')).toEqual(['a', 'b']);
  });

  it('gives the columns asked for, and nothing of tables without them', () => {
    expect(rowsWith(sample, ['default']).map((row) => row.default)).toEqual(['`60s`', '']);
    expect(rowsWith(sample, ['default', 'type'])).toEqual([]);
  });

  it('finds code blocks without their indentation', () => {
    expect(codeBlocksIn(sample)).toEqual([
      { language: 'yaml', text: '# not a heading\napps:\n  - id: 1\n' },
    ]);
  });

  it('finds headings, but not in code', () => {
    expect(headingsIn(sample).map(({ title }) => title)).toEqual(['Title', 'One', 'Deeper', 'Two']);
  });

  it('cuts a section out, with what is below it', () => {
    expect(sectionOf(sample, 'One')).toContain('Text.');
    expect(sectionOf(sample, 'One')).not.toContain('Two');
    expect(() => sectionOf(sample, 'Three')).toThrow('There is no section "Three"');
  });
});

describe('readDocuments', () => {
  it('finds the documents of the project and nothing of its packages', () => {
    const paths = readDocuments().map(({ path }) => path);

    expect(paths).toContain('README.md');
    expect(paths).toContain('docs/dev/decisions/0001-dependencies.md');
    expect(paths.filter((path) => path.includes('node_modules'))).toEqual([]);
  });
});
