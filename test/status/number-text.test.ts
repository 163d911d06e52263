import { describe, expect, it } from 'vitest';
import { countOf, countText, rateText } from '../../src/status/number-text.ts';

describe('rateText', () => {
  it.each([
    { value: 0, text: '0' },
    { value: 0.001, text: '<0.1' },
    { value: 0.05, text: '0.1' },
    { value: 85.47, text: '85.5' },
    { value: 85, text: '85' },
    { value: 1204.5, text: '1,205' },
    { value: 1_234_567, text: '1,234,567' },
  ])('writes $text', ({ value, text }) => {
    expect(rateText(value)).toBe(text);
  });
});

describe('counts', () => {
  it.each([
    { text: countText(12_000), expected: '12,000' },
    { text: countOf(1, 'host'), expected: '1 host' },
    { text: countOf(0, 'host'), expected: '0 hosts' },
    { text: countOf(2, 'entry matches', 'entries match'), expected: '2 entries match' },
  ])('writes $expected', ({ text, expected }) => {
    expect(text).toBe(expected);
  });
});
