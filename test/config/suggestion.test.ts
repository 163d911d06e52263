import { describe, expect, it } from 'vitest';
import { closest, didYouMean, didYouMeanOneOf } from '../../src/config/suggestion.ts';

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

describe('didYouMeanOneOf', () => {
  const values = ['average_time', 'min_time', 'max_time', 'total_time', 'score', 's'];

  it.each([
    { word: 'scroe', help: 'did you mean "score"?' },
    { word: 'apdex_score', help: 'did you mean "score"?' },
    { word: 'Average', help: 'did you mean "average_time"?' },
    { word: 'mim_time', help: 'did you mean "min_time"?' },
    { word: 'ax_time', help: 'did you mean "max_time"?' },
    { word: 'time', help: 'did you mean "average_time", "min_time" or "max_time"?' },
    { word: 'avg_time', help: 'did you mean "average_time"?' },
    { word: 'avg', help: 'did you mean "average_time"?' },
    { word: 'MAX_tm', help: 'did you mean "max_time"?' },
    { word: 'me', help: undefined },
    { word: 'p95', help: undefined },
    { word: '', help: undefined },
  ])('says $help for "$word"', ({ word, help }) => {
    expect(didYouMeanOneOf(word, values)).toBe(help);
  });
});
