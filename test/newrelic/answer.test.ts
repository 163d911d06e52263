import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../src/newrelic/answer.ts';

describe('excerptOf', () => {
  it.each([
    { what: 'a plain text', text: 'Invalid API key.', excerpt: 'Invalid API key.' },
    { what: 'nothing', text: '', excerpt: '' },
    { what: 'line breaks and tabs', text: ' a\r\n\tb  c ', excerpt: 'a b c' },
    { what: 'control characters', text: 'a\u0000\u001b[31mb', excerpt: 'a [31mb' },
    { what: 'characters that turn the line', text: 'a\u202eb\u200bc', excerpt: 'a b c' },
    { what: 'an unpaired surrogate', text: 'a\ud800b', excerpt: 'a b' },
    { what: 'a user key', text: 'key NRAK-ABC123 is bad', excerpt: 'key [removed] is bad' },
    {
      what: 'an older key',
      text: `key ${'a1'.repeat(24)} is bad`,
      excerpt: 'key [removed] is bad',
    },
    {
      what: 'a key whose dash is encoded',
      text: 'key NRAK&#x2d;0123456789ABCDEFGHIJKLMNOPQ is bad',
      excerpt: 'key NRAK&#x2d;[removed] is bad',
    },
    {
      what: 'the end of a key',
      text: 'key ****-789ABCDEFGHIJKLMNOPQ is bad',
      excerpt: 'key ****-[removed] is bad',
    },
    {
      what: 'long words, names of hosts and addresses',
      text: 'INTERNAL_SERVER_ERROR: GatewayTimeoutExceptionHandler at ip-10-20-130-140-eu-west-1',
      excerpt:
        'INTERNAL_SERVER_ERROR: GatewayTimeoutExceptionHandler at ip-10-20-130-140-eu-west-1',
    },
    { what: '120 characters', text: 'ab '.repeat(40), excerpt: 'ab '.repeat(40).trim() },
  ])('shows $what in one clean line', ({ text, excerpt }) => {
    expect(excerptOf(text)).toBe(excerpt);
  });

  it('cuts at 120 characters without splitting one', () => {
    const excerpt = excerptOf('😀 '.repeat(100));

    expect(excerpt).toBe(`${'😀 '.repeat(59)}😀…`);
  });

  it('never shows more than 120 characters, nor a control character', () => {
    const anyText = fc
      .uint16Array({ maxLength: 300 })
      .map((units) => String.fromCharCode(...units));

    fc.assert(
      fc.property(anyText, (text) => {
        const excerpt = excerptOf(text);

        expect(Array.from(excerpt).length).toBeLessThanOrEqual(120);
        expect(excerpt).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }),
    );
  });

  it('never shows a user key, wherever it is in the text', () => {
    const key = 'NRAK-0123456789ABCDEFGHIJKLMNOPQ';

    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (before) => {
        expect(excerptOf(`${before}${key}`)).not.toContain('0123456789');
      }),
    );
  });
});
