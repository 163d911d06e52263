import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../src/newrelic/answer.ts';

const hosts = 'INTERNAL_SERVER_ERROR: TimeoutExceptionHandler at ip-10-20-130-140-eu-west-1';
const long = 'ab '.repeat(40);

describe('an excerpt', () => {
  it.each([
    ['a plain text', 'Invalid API key.', 'Invalid API key.'],
    ['nothing', '', ''],
    ['line breaks and tabs', ' a\r\n\tb  c ', 'a b c'],
    ['control characters', 'a\u0000\u001b[31mb', 'a [31mb'],
    ['characters that turn the line', 'a\u202eb\u200bc', 'a b c'],
    ['an unpaired surrogate', 'a\ud800b', 'a b'],
    ['a user key', 'key NRAK-ABC123 is bad', 'key [removed] is bad'],
    [
      'a long word, which is none',
      'NerdGraphGetAuthorizedAccountsCommand short-circuited',
      'NerdGraphGetAuthorizedAccountsCommand short-circuited',
    ],
    [
      'an id with joints',
      '123e4567-e89b-12d3-a456-426614174000',
      '123e4567-e89b-12d3-a456-426614174000',
    ],
    ['an older key', `key ${'a1'.repeat(24)} is bad`, 'key [removed] is bad'],
    ['a key whose dash is encoded', 'NRAK&#x2d;0123456789ABCDEFGHIJKLMNOPQ', 'NRAK&#x2d;[removed]'],
    ['the end of a key', 'key ****-789ABCDEFGHIJKLMNOPQ is bad', 'key ****-[removed] is bad'],
    ['long words, names of hosts and addresses', hosts, hosts],
    ['120 characters', long, long.trim()],
    ['more, cut without splitting one', '😀 '.repeat(100), `${'😀 '.repeat(59)}😀…`],
  ])('shows %s in one clean line', (_, text, excerpt) => {
    expect(excerptOf(text)).toBe(excerpt);
  });

  it('never has more than 120 characters, nor a control character', () => {
    const units = fc.uint16Array({ maxLength: 300 });
    fc.assert(
      fc.property(units, (some) => {
        const excerpt = excerptOf(String.fromCharCode(...some));

        expect(Array.from(excerpt).length).toBeLessThanOrEqual(120);
        expect(excerpt).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }),
    );
  });

  it('never has a user key, wherever it is in the text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (before) => {
        expect(excerptOf(`${before}NRAK-0123456789ABCDEFGHIJKLMNOPQ`)).not.toContain('0123456789');
      }),
    );
  });
});
