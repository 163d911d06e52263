import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../src/publish/redactor.ts';

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
    { form: 'percent-encoded', text: encodeURIComponent(secret) },
    {
      form: 'percent-encoded with small digits',
      text: encodeURIComponent(secret).replaceAll(/%../gu, (byte) => byte.toLowerCase()),
    },
    { form: 'in JSON', text: JSON.stringify(secret).slice(1, -1) },
  ])('is replaced $form', ({ text }) => {
    const redactor = aRedactor(secret);

    expect(redactor.redact(`before ${text} after`)).toBe('before [redacted] after');
  });

  it('is replaced as a whole when others are in it', () => {
    const redactor = aRedactor('hunt', 'ter2hunt', 'hunter2hunter2');

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
        const json = JSON.stringify(text).slice(1, -1);
        expect(redactor.redact(`${before}${json}${after}`)).not.toContain(json);
      }),
      { numRuns: 200 },
    );
  });

  it('is registered without the white space around it, and not if little is left', () => {
    const redactor = aRedactor('hunter2hunter2\n', '', '   ', 'abc');

    expect(redactor.redact('key=hunter2hunter2;')).toBe('key=[redacted];');
    expect(redactor.redact('abc   def')).toBe('abc   def');
  });
});

describe('forgetting a secret', () => {
  it('keeps what somebody else has added too', () => {
    const redactor = aRedactor('hunter2hunter2', 'hunter2hunter2\n');

    redactor.forget('hunter2hunter2');
    const afterOne = redactor.redact('hunter2hunter2');
    redactor.forget('hunter2hunter2');
    redactor.forget('hunter2hunter2');
    const afterAll = redactor.redact('hunter2hunter2');
    redactor.add('hunter2hunter2');

    expect([afterOne, afterAll]).toEqual(['[redacted]', 'hunter2hunter2']);
    expect(redactor.redact('hunter2hunter2')).toBe('[redacted]');
  });
});

/** As New Relic makes them. */
const anyKey = fc.stringMatching(/^[A-Z0-9]{27}$/).map((rest) => `NRAK-${rest}`);

/** Where a key stands in an output. */
const encoders: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => key.toLowerCase(),
  (key) => encodeURIComponent(key),
  (key) => JSON.stringify(key).slice(1, -1),
];

describe('with many keys', () => {
  it('none survives in any of the forms, and all other text stays as it is', () => {
    const words = fc.string({ unit: fc.constantFrom(...Array.from('ab \n"é%\\+{}:./-_')) });
    const encoded = fc.record({
      at: fc.nat(),
      encoder: fc.constantFrom(...encoders),
      before: words,
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(anyKey, { minLength: 1, maxLength: 20 }),
        fc.array(encoded, { maxLength: 6 }),
        (keys, parts) => {
          const redactor = aRedactor(...keys);
          const text = parts
            .map(({ at, encoder, before }) => `${before} ${encoder(keys[at % keys.length] ?? '')} `)
            .join('');

          expect(redactor.redact(text)).toBe(
            parts.map(({ before }) => `${before} [redacted] `).join(''),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('costs no more for each text than with one', () => {
    const key = (index: number): string => `NRAK-${String(index).padStart(27, 'X7')}`;
    const many = aRedactor(...Array.from({ length: 600 }, (_, index) => key(index)));
    const one = aRedactor(key(0));
    const text = 'list of applications: New Relic answered 500 Internal Server Error, NRAK'.repeat(
      4,
    );
    const cpuOf = (redactor: Redactor): number => {
      for (let round = 0; round < 100; round += 1) redactor.redact(`${text}${round}`);
      const start = process.cpuUsage();
      for (let round = 0; round < 500; round += 1) redactor.redact(`${text}${round}`);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };

    expect(cpuOf(many)).toBeLessThan(10 * cpuOf(one) + 20_000);
  });
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
