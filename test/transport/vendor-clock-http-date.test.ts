import { describe, expect, it } from 'vitest';
import { headerText, parseHttpDate } from '../../src/transport/vendor-clock.ts';

describe('headerText', () => {
  it.each([
    { what: 'a value', value: ' 7 ', text: '7' },
    { what: 'the first of several', value: [' 7', '8'], text: '7' },
    { what: 'none of an empty list', value: [], text: '' },
    { what: 'none of a header that is missing', value: undefined, text: '' },
  ])('is $what', ({ value, text }) => {
    expect(headerText({ 'retry-after': value }, 'retry-after')).toBe(text);
  });
});

describe('parseHttpDate', () => {
  const date = 'Tue, 01 Sep 2026 10:00:00 GMT';

  it('reads a date as HTTP writes it', () => {
    expect(parseHttpDate(date)).toBe(Date.UTC(2026, 8, 1, 10));
  });

  it.each([
    { what: 'another format', text: '2026-09-01T10:00:00Z' },
    { what: 'something before it', text: `x ${date}` },
    { what: 'another zone', text: `${date}+2` },
    { what: 'an impossible day', text: 'Tue, 99 Sep 2026 10:00:00 GMT' },
  ])('reads nothing from $what', ({ text }) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
