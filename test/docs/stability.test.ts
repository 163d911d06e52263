import { describe, expect, it } from 'vitest';
import { readDocument } from './documents.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';
import { stabilityWords } from './metric-rule.ts';

const { text } = readDocument('docs/stability.md');
const commands = readDocument('docs/commands.md').text;
const rows = rowsWith(text, ['what', 'word', 'all of it']);

describe('docs/stability.md', () => {
  it('gives each thing one of the words that it explains', () => {
    const words = rowsWith(text, ['word', 'what it means']).map(({ word }) => word);
    const used = rows.map(({ word }) => words.find((one) => word.startsWith(one)) ?? word);
    const [ofMetrics, ...others] = used;

    expect(words).toEqual([...stabilityWords, 'not covered']);
    expect(codeWordsIn(ofMetrics ?? '')).toEqual([...stabilityWords]);
    expect(new Set(others)).toEqual(new Set(words));
  });

  it('says of every path of the server whether it may change', () => {
    const said = new Set(rows.flatMap(({ what }) => codeWordsIn(what)));
    const paths = rowsWith(commands, ['path', 'answer']).map(({ path }) => codeWordsIn(path)[0]);

    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !said.has(path ?? ''))).toEqual([]);
  });

  it('names the exit codes that there are', () => {
    const codes = rowsWith(commands, ['exit code', 'meaning']).map((row) => row['exit code']);

    expect(rows.map(({ what }) => what)).toContain(`exit codes ${codes.join(', ')}`);
  });

  it('leads from what is covered to where all of it is', () => {
    const without = rows.filter((row) => row['all of it'] === '').map(({ word }) => word);

    expect(new Set(without)).toEqual(new Set(['not covered']));
  });
});
