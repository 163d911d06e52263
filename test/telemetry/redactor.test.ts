import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../src/telemetry/redactor.ts';

const secret = 'p4ss w/rd+"\\é?=%';

function aRedactor(...secrets: readonly string[]): Redactor {
  const redactor = createRedactor();
  for (const each of secrets) redactor.add(each);
  return redactor;
}

/** A secret of sufficient length that JSON and URLs can carry. */
const anySecret = fc
  .string({ minLength: 8, maxLength: 40, unit: 'grapheme' })
  .filter((text) => text.trim() === text && text.length >= 8);

describe('a registered secret', () => {
  it.each([
    { form: 'as plain text', text: secret },
    { form: 'in another case', text: secret.toUpperCase() },
    { form: 'percent-encoded', text: encodeURIComponent(secret) },
    { form: 'percent-encoded twice', text: encodeURIComponent(encodeURIComponent(secret)) },
    { form: 'as form data', text: new URLSearchParams([['', secret]]).toString().slice(1) },
    { form: 'in JSON', text: JSON.stringify(secret).slice(1, -1) },
    { form: 'in base64', text: Buffer.from(secret).toString('base64') },
    { form: 'in base64url', text: Buffer.from(secret).toString('base64url') },
  ])('is replaced $form', ({ text }) => {
    const redactor = aRedactor(secret);

    expect(redactor.redact(`before ${text} after`)).toBe('before [redacted] after');
  });

  it('is replaced in text that was written before it was registered, but read after', () => {
    const redactor = createRedactor();
    const before = redactor.redact('a hunter2hunter2 b');

    redactor.add('hunter2hunter2');

    expect(before).toBe('a hunter2hunter2 b');
    expect(redactor.redact('a hunter2hunter2 b')).toBe('a [redacted] b');
  });

  it('is replaced as a whole when it begins with another one', () => {
    const redactor = aRedactor('hunter2', 'hunter2hunter2');

    expect(redactor.redact('hunter2hunter2')).toBe('[redacted]');
  });

  it('never survives, whatever it is and whatever surrounds it', () => {
    fc.assert(
      fc.property(anySecret, fc.string(), fc.string(), (text, before, after) => {
        const redactor = aRedactor(text);

        expect(redactor.redact(`${before}${text}${after}`)).not.toContain(text);
        expect(redactor.redact(`${before}${encodeURIComponent(text)}`)).not.toContain(
          encodeURIComponent(text),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('cannot be decoded from the base64 of a text around it', () => {
    fc.assert(
      fc.property(anySecret, fc.string(), fc.string(), (text, before, after) => {
        const encoded = Buffer.from(`${before}${text}${after}`).toString('base64');

        const rest = aRedactor(text).redact(encoded).split('[redacted]');

        const decoded = rest.map((part) => Buffer.from(part, 'base64').toString());
        expect(decoded.join('')).not.toContain(text);
        expect(rest.length).toBeGreaterThan(1);
      }),
      { numRuns: 200 },
    );
  });

  it('is registered without the white space around it, such as the newline of its file', () => {
    const redactor = aRedactor('hunter2hunter2\n');

    expect(redactor.redact('key=hunter2hunter2;')).toBe('key=[redacted];');
  });

  it.each([{ short: '' }, { short: '   ' }, { short: 'abc' }])(
    'is not registered when it is as short as "$short"',
    ({ short }) => {
      const redactor = aRedactor(short);

      expect(redactor.redact('abc   def')).toBe('abc   def');
    },
  );
});

describe('without any registered secret', () => {
  it.each([
    {
      what: 'a New Relic user key',
      text: 'key NRAK-0123456789ABCDEFGHIJKLMNOPQ is bad',
      safe: 'key [redacted] is bad',
    },
    {
      what: 'the login in a URL',
      text: 'via http://user:p%40ss@proxy:3128/x and https://proxy/',
      safe: 'via http://[redacted]@proxy:3128/x and https://proxy/',
    },
    {
      what: 'a login that holds an @',
      text: 'http://user:p@ss@proxy:3128',
      safe: 'http://[redacted]@proxy:3128',
    },
  ])('$what is replaced', ({ text, safe }) => {
    expect(createRedactor().redact(text)).toBe(safe);
  });

  it.each([
    { text: 'https://api.newrelic.com/v2/applications.json?filter[name]=a@b' },
    { text: 'mail to a@b.example' },
    { text: 'the poll of 12 applications took 3 s' },
  ])('"$text" stays as it is', ({ text }) => {
    expect(createRedactor().redact(text)).toBe(text);
  });
});
