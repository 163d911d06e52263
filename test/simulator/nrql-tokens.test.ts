import { describe, expect, it } from 'vitest';
import { nrqlTokens } from '../../src/simulator/nrql-tokens.ts';

describe('nrqlTokens', () => {
  it.each([
    { text: 'newrelic.timeslice.value', kind: 'word', token: 'newrelic.timeslice.value' },
    { text: '`host name`', kind: 'name', token: 'host name' },
    { text: String.raw`'it\'s'`, kind: 'text', token: "it's" },
    { text: String.raw`'back\\slash'`, kind: 'text', token: String.raw`back\slash` },
    { text: String.raw`'\d'`, kind: 'text', token: String.raw`\d` },
    { text: String.raw`r'.*\.[0-7]'`, kind: 'pattern', token: String.raw`.*\.[0-7]` },
    { text: String.raw`r'it\'s'`, kind: 'pattern', token: "it's" },
    { text: '1760000400000', kind: 'number', token: '1760000400000' },
    { text: '0.5', kind: 'number', token: '0.5' },
    { text: '<=', kind: 'symbol', token: '<=' },
    { text: 'größe', kind: 'word', token: 'größe' },
  ])('reads $text as a $kind', ({ text, kind, token }) => {
    expect(nrqlTokens(`  ${text} `)).toEqual([
      { kind, text: token, position: 3 },
      { kind: 'end', text: '', position: text.length + 4 },
    ]);
  });

  it.each([
    { text: "SELECT 'open" },
    { text: 'SELECT #' },
    { text: 'SELECT "double"' },
    { text: 'SELECT `open' },
  ])('refuses what is no token, with its position: $text', ({ text }) => {
    expect(() => nrqlTokens(text)).toThrow('position 8');
  });
});
