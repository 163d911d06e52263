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
} from '../../src/newrelic/json.ts';

describe('parseJsonKeepingIds', () => {
  it.each([
    { text: '{"id":9007199254740993}', value: { id: '9007199254740993' } },
    { text: '[12345678901234567890, 7]', value: ['12345678901234567890', 7] },
    { text: '[-12345678901234567890]', value: ['-12345678901234567890'] },
    { text: '12345678901234567890', value: '12345678901234567890' },
    {
      text: '{"a":{"b":[[98765432109876543210]]}}',
      value: { a: { b: [['98765432109876543210']] } },
    },
  ])('keeps the digits of the integer in $text', ({ text, value }) => {
    expect(parseJsonKeepingIds(text)).toEqual(value);
  });

  it.each([
    { what: 'an integer of 16 digits below 2^53', text: '[9007199254740991]' },
    { what: 'a long fraction', text: '[0.12345678901234567, 1234567890123456789.5]' },
    { what: 'an exponent', text: '[12345678901234567890e2, 1E400]' },
    { what: 'digits in a string', text: '["12345678901234567890", "a 12345678901234567890 b"]' },
    { what: 'digits after an escaped quote', text: '["\\" ,12345678901234567890, \\\\"]' },
    { what: 'digits after a backslash that is escaped', text: '["\\\\", "12345678901234567890"]' },
    { what: 'digits in a key', text: '{"12345678901234567890":1}' },
    { what: 'literals', text: '[true, false, null, "1234567890123456"]' },
  ])('leaves $what as it is', ({ text }) => {
    expect(parseJsonKeepingIds(text)).toEqual(JSON.parse(text));
  });

  it('reads any document like JSON.parse, except for the digits of long integers', () => {
    const id = fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n });

    fc.assert(
      fc.property(fc.jsonValue(), id, fc.string(), (value, long, text) => {
        const body = `{"value":${JSON.stringify(value)},"text":${JSON.stringify(text)},"id":${long}}`;
        const plain = body.replace(/"id":(\d+)\}$/, '"id":"$1"}');

        expect(parseJsonKeepingIds(body)).toEqual(JSON.parse(withLongIntegersQuoted(plain)));
      }),
    );
  });

  it('rejects whatever JSON.parse rejects', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '1234567890123456789',
      '-',
    );

    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const body = pieces.join('');

        expect(isRefused(() => parseJsonKeepingIds(body))).toBe(isRefused(() => parseJson(body)));
      }),
    );
  });

  it('reads a document with a string of 8 million characters', () => {
    const long = '\\"x'.repeat(2_700_000);

    const value = parseJsonKeepingIds(`["${long}",12345678901234567890]`);

    expect(value).toHaveProperty('1', '12345678901234567890');
  });
});

describe('isJsonObject', () => {
  it.each([
    { value: {}, expected: true },
    { value: [], expected: false },
    { value: null, expected: false },
    { value: 'text', expected: false },
    { value: undefined, expected: false },
  ])('is $expected for $value', ({ value, expected }) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});

/** fast-check writes large doubles as integers of up to 21 digits: they are long integers too. */
function withLongIntegersQuoted(body: string): string {
  return JSON.stringify(JSON.parse(body), (_, value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? longIntegerOf(value)
      : value,
  );
}

function longIntegerOf(value: number): number | string {
  const written = JSON.stringify(value);
  return written.includes('e') ? value : written;
}

function isRefused(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof SyntaxError;
  }
}

describe('epochMsOf', () => {
  it.each([
    { value: '2015-06-08T14:44:26+00:00', epochMs: Date.UTC(2015, 5, 8, 14, 44, 26) },
    { value: '2026-09-01T10:00:00Z', epochMs: Date.UTC(2026, 8, 1, 10) },
    { value: '2026-09-01T12:30:00+02:30', epochMs: Date.UTC(2026, 8, 1, 10) },
    { value: '2026-09-01T10:00:00.250Z', epochMs: Date.UTC(2026, 8, 1, 10) + 250 },
    { value: '2026-09-01T10:00:00', epochMs: undefined },
    { value: '2026-13-01T10:00:00Z', epochMs: undefined },
    { value: '2026-09-01', epochMs: undefined },
    { value: '1', epochMs: undefined },
    { value: '', epochMs: undefined },
    { value: 1_700_000_000, epochMs: undefined },
    { value: null, epochMs: undefined },
    { value: undefined, epochMs: undefined },
  ])('reads $value as $epochMs', ({ value, epochMs }) => {
    expect(epochMsOf(value)).toBe(epochMs);
  });
});

describe('windowEndMsOf', () => {
  it.each([
    { to: '2026-09-01T10:30:00+00:00', end: Date.UTC(2026, 8, 1, 10, 30) },
    { to: '2026-09-01T10:29:59+00:00', end: Date.UTC(2026, 8, 1, 10, 30) },
    { to: '2026-12-31T23:59:59.999Z', end: Date.UTC(2027, 0, 1) },
    { to: '2026-09-01T10:29:58+00:00', end: Date.UTC(2026, 8, 1, 10, 29, 58) },
    { to: 'soon', end: undefined },
  ])('takes $to as the end $end', ({ to, end }) => {
    expect(windowEndMsOf(to)).toBe(end);
  });
});

describe('minuteTextOf', () => {
  it('is a whole minute in UTC', () => {
    expect(minuteTextOf(Date.UTC(2026, 8, 1, 10, 5, 59, 999))).toBe('2026-09-01T10:05:00Z');
  });

  it('gives every window back, in whole minutes at least 60 seconds apart', () => {
    const nowMs = fc.date({
      noInvalidDate: true,
      min: new Date('2001-01-01'),
      max: new Date('2099-01-01'),
    });
    const durationMs = fc.integer({ min: 1, max: 86_400_000 });

    fc.assert(
      fc.property(nowMs, durationMs, durationMs, (now, lengthMs, delayMs) => {
        const window = windowAt(now.getTime(), { kind: 'range', lengthMs }, delayMs);
        const [from, to] = [window?.fromMs, window?.toMs].map((ms = Number.NaN) =>
          minuteTextOf(ms),
        );

        expect(from).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
        expect({ fromMs: epochMsOf(from), toMs: epochMsOf(to) }).toEqual(window);
        expect(Number(epochMsOf(to)) - Number(epochMsOf(from))).toBeGreaterThanOrEqual(60_000);
      }),
    );
  });
});
