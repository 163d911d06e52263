import { describe, expect, it } from 'vitest';
import { calls } from '../../src/tools/verify/calls.ts';
import { facts } from '../../src/tools/verify/facts.ts';
import { readDocument } from './documents.ts';
import { rowsWith } from './markdown.ts';

const notAsked = rowsWith(readDocument('docs/dev/open-questions.md').text, [
  'id',
  'what is believed',
  'source',
  'sign',
  'if it differs',
]);

describe('what is believed of New Relic', () => {
  it('has a sentence, a source and a sign, whether verify can ask it or not', () => {
    const asked = facts.map(({ fact, source, sign }) => [fact, source, sign]);
    const others = notAsked.map((row) => [row['what is believed'], row.source, row.sign]);

    expect(others.length).toBeGreaterThan(20);
    for (const [believed, source, sign] of [...asked, ...others]) {
      expect(believed).not.toBe('');
      expect(source).toMatch(/\b[DVCIU]\b/u);
      expect(sign).not.toBe('');
    }
  });

  it('has each question once, with what to do', () => {
    const asked = facts.map(({ id, differs }) => [id, differs]);
    const all = [...asked, ...notAsked.map((row) => [row.id, row['if it differs']])];

    expect(new Set(all.map(([id]) => id)).size).toBe(all.length);
    for (const [, differs] of all) expect(differs).toMatch(/\. Now: /u);
  });
});

describe('verify', () => {
  it('makes no call that no fact needs', () => {
    const needed = new Set(facts.flatMap((fact) => fact.calls.map(({ name }) => name)));

    expect(calls.filter(({ name }) => !needed.has(name))).toEqual([]);
  });
});
