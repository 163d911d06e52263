import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, parseJsonKeepingIds } from '../../src/newrelic/answer.ts';
import { slow } from '../support/slow.ts';

function isRefused(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof SyntaxError;
  }
}

/** fast-check writes large doubles as integers of up to 21 digits: they are long integers too. */
function withLongIntegersQuoted(body: string): string {
  return JSON.stringify(JSON.parse(body), (_, value: unknown) => {
    const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
    const written = JSON.stringify(value);
    return isLong && !written.includes('e') ? written : value;
  });
}

describe('a document with ids', () => {
  it.each([
    ['{"id":9007199254740993}', { id: '9007199254740993' }],
    ['[12345678901234567890, 7]', ['12345678901234567890', 7]],
    ['[-12345678901234567890]', ['-12345678901234567890']],
    ['12345678901234567890', '12345678901234567890'],
    ['{"a":{"b":[[98765432109876543210]]}}', { a: { b: [['98765432109876543210']] } }],
  ])('keeps the digits of the integer in %s', (text, value) => {
    expect(parseJsonKeepingIds(text)).toEqual(value);
  });

  it.each([
    ['an integer of 16 digits below 2^53', '[9007199254740991]'],
    ['a long fraction', '[0.12345678901234567, 1234567890123456789.5]'],
    ['an exponent', '[12345678901234567890e2, 1E400]'],
    ['digits in a string', '["12345678901234567890", "a 12345678901234567890 b"]'],
    ['digits after an escaped quote', '["\\" ,12345678901234567890, \\\\"]'],
    ['digits after a backslash that is escaped', '["\\\\", "12345678901234567890"]'],
    ['digits in a key', '{"12345678901234567890":1}'],
    ['literals', '[true, false, null, "1234567890123456"]'],
  ])('leaves %s as it is', (_, text) => {
    expect(parseJsonKeepingIds(text)).toEqual(JSON.parse(text));
  });

  it('is read like JSON.parse, except for the digits of long integers', () => {
    const id = fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n });
    fc.assert(
      fc.property(fc.jsonValue(), id, fc.string(), (value, long, text) => {
        const body = `{"value":${JSON.stringify(value)},"text":${JSON.stringify(text)},"id":${long}}`;
        const plain = body.replace(/"id":(\d+)\}$/, '"id":"$1"}');

        expect(parseJsonKeepingIds(body)).toEqual(JSON.parse(withLongIntegersQuoted(plain)));
      }),
    );
  });

  it('is rejected if JSON.parse rejects it', () => {
    const piece = fc.constantFrom(...'{ } [ ] , : " \\ - 1234567890123456789'.split(' '));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const body = pieces.join('');

        expect(isRefused(() => parseJsonKeepingIds(body))).toBe(isRefused(() => parseJson(body)));
      }),
    );
  });

  it('may have a string of 8 million characters', slow, () => {
    const value = parseJsonKeepingIds(`["${'\\"x'.repeat(2_700_000)}",12345678901234567890]`);

    expect(value).toHaveProperty('1', '12345678901234567890');
  });
});
