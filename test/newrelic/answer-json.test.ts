import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowAt } from '../../src/model/window.ts';
import {
  epochMsOf,
  isJsonObject,
  minuteTextOf,
  parseJson,
  parseJsonKeepingIds,
  windowEndMsOf,
} from '../../src/newrelic/answer.ts';

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

  it('may have a string of 8 million characters', () => {
    const value = parseJsonKeepingIds(`["${'\\"x'.repeat(2_700_000)}",12345678901234567890]`);

    expect(value).toHaveProperty('1', '12345678901234567890');
  });
});

describe('a value of a document', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['text', false],
    [undefined, false],
  ])('%j is an object: %s', (value, isObject) => {
    expect(isJsonObject(value)).toBe(isObject);
  });

  const ten = Date.UTC(2026, 8, 1, 10);
  it.each([
    ['2015-06-08T14:44:26+00:00', Date.UTC(2015, 5, 8, 14, 44, 26)],
    ['2026-09-01T10:00:00Z', ten],
    ['2026-09-01T12:30:00+02:30', ten],
    ['2026-09-01T10:00:00.250Z', ten + 250],
  ])('%j is the time %s', (value, epochMs) => {
    expect(epochMsOf(value)).toBe(epochMs);
  });

  it.each([
    '2026-09-01T10:00:00',
    '2026-13-01T10:00:00Z',
    '2026-09-01',
    '1',
    '',
    1_700_000_000,
    null,
    undefined,
  ])('%j is no time', (value) => {
    expect(epochMsOf(value)).toBeUndefined();
  });

  it.each([
    ['2026-09-01T10:30:00+00:00', Date.UTC(2026, 8, 1, 10, 30)],
    ['2026-09-01T10:29:59+00:00', Date.UTC(2026, 8, 1, 10, 30)],
    ['2026-12-31T23:59:59.999Z', Date.UTC(2027, 0, 1)],
    ['2026-09-01T10:29:58+00:00', Date.UTC(2026, 8, 1, 10, 29, 58)],
    ['soon', undefined],
  ])('%s is the end of a window: %s', (to, end) => {
    expect(windowEndMsOf(to)).toBe(end);
  });
});

describe('a minute as a text', () => {
  it('is whole, and in UTC', () => {
    expect(minuteTextOf(Date.UTC(2026, 8, 1, 10, 5, 59, 999))).toBe('2026-09-01T10:05:00Z');
  });

  it('gives every window back, in whole minutes at least 60 seconds apart', () => {
    const years = { min: new Date('2001-01-01'), max: new Date('2099-01-01') };
    const nowMs = fc.date({ noInvalidDate: true, ...years });
    const durationMs = fc.integer({ min: 1, max: 86_400_000 });
    fc.assert(
      fc.property(nowMs, durationMs, durationMs, (now, lengthMs, delayMs) => {
        const window = windowAt(now.getTime(), { kind: 'range', lengthMs }, delayMs);
        const [from = '', to = ''] = [window?.fromMs, window?.toMs].map((ms = Number.NaN) =>
          minuteTextOf(ms),
        );

        expect(from).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
        expect({ fromMs: epochMsOf(from), toMs: epochMsOf(to) }).toEqual(window);
        expect(Number(epochMsOf(to)) - Number(epochMsOf(from))).toBeGreaterThanOrEqual(60_000);
      }),
    );
  });
});
