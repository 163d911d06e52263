import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { patternCost, patternTokens } from '../../src/config/pattern-tokens.ts';

const pieces = [
  'a',
  '😀',
  '.',
  '^',
  '$',
  '-',
  ']',
  '}',
  '{',
  '\\',
  '\\d',
  '\\b',
  '\\pL',
  '\\p{Greek}',
  '(',
  '(?:',
  '(?i:',
  '(?P<n>',
  '(?<m>',
  ')',
  ')',
  ')',
  '(?i)',
  '(?s)',
  '\\)',
  '\\(',
  '[',
  '[^',
  '[)]',
  '[](]',
  '[[:alpha:]]',
  '[\\]]',
  '[a-z]',
  '\\Q(',
  '\\E',
  '\\Qa{9}',
  '|',
  '*',
  '+',
  '?',
  '*?',
  '{2}',
  '{3,}',
  '{2,5}',
  '{0}',
  '{0,3}',
  '{2,}?',
  '{10}',
  '{100}',
  '\\x{41}',
  '\\x41',
  '\\101',
];

function instructionsOf(source: string): number | undefined {
  try {
    return RE2JS.compile(source).programSize();
  } catch {
    return undefined;
  }
}

describe('patternCost', () => {
  it.each([
    { source: 'a{1000}', cost: 1003 },
    { source: '(?:a{10}b){20}', cost: 243 },
    { source: '[)]a{10}', cost: 14 },
    { source: '(?:[)]a){100}', cost: 303 },
    { source: '\\Q(a{9}\\E{3}', cost: 14 },
    { source: '[a-z]', cost: 5 },
    { source: '(?i)[a-z]', cost: 20 },
    { source: '\\p{Greek}\\PL', cost: 12 },
  ])('of $source is $cost', ({ source, cost }) => {
    expect(patternCost(source)).toBe(cost);
  });

  it('is never below the size of the compiled expression', () => {
    let compared = 0;
    const source = fc
      .array(fc.constantFrom(...pieces), { maxLength: 14 })
      .map((parts) => parts.join(''));

    fc.assert(
      fc.property(source, (written) => {
        const cost = patternCost(written);
        const instructions = cost > 3000 ? undefined : instructionsOf(written);
        if (instructions !== undefined) compared += 1;

        expect(instructions ?? 0).toBeLessThanOrEqual(cost);
      }),
      { numRuns: 5000 },
    );
    expect(compared, 'enough of the expressions are valid').toBeGreaterThan(500);
  });
});

describe('patternTokens', () => {
  it('are the whole text together, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(
          patternTokens(text)
            .map((token) => token.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });
});
