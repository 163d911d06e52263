import { describe, expect, it } from 'vitest';
import { closest, didYouMean } from '../../src/config/suggestion.ts';

const keys = ['id', 'name', 'match', 'interval', 'requests_per_minute'];

describe('closest', () => {
  it.each([
    { word: 'nmae', found: 'name' },
    { word: 'Name', found: 'name' },
    { word: 'ids', found: 'id' },
    { word: 'intervall', found: 'interval' },
    { word: 'request_per_minutes', found: 'requests_per_minute' },
    { word: 'colour', found: undefined },
    { word: 'xy', found: undefined },
    { word: 'kind', found: undefined },
    { word: '', found: undefined },
  ])('finds $found for "$word"', ({ word, found }) => {
    expect(closest(word, keys)).toBe(found);
  });

  it('takes no word that begins with another letter, which would mean something else', () => {
    const values = ['min_response_time', 'average_response_time'];

    expect(closest('avg_response_time', values)).toBe('average_response_time');
    expect(closest('p95_response_time', values)).toBeUndefined();
  });

  it('prefers the nearest candidate', () => {
    expect(closest('shop-eu', ['shop-us', 'shop-eus'])).toBe('shop-eus');
  });
});

describe('didYouMean', () => {
  it('asks about the similar word', () => {
    expect(didYouMean('mach', keys)).toBe('did you mean "match"?');
  });

  it('says nothing if no candidate is similar', () => {
    expect(didYouMean('colour', keys)).toBeUndefined();
  });
});
