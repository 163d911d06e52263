import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectConfig } from '../../src/config/load-config.ts';
import { readNrql } from '../../src/config/nrql-text.ts';
import { slow } from '../support/slow.ts';

const words = fc.constantFrom(
  ...'SELECT FROM WHERE FACET LIMIT SINCE WITH JOIN AS CASES MAX 10 count(*) max(d) T a.b AND'.split(
    ' ',
  ),
  ...Array.from('\'"`()[]{},;\\#$*/-“\n\r\t𝒳\u{e000}'),
  '--',
  '//',
  '/*',
  '*/',
  '{{x}}',
  "\\'",
  '${X}',
);
const rest = fc
  .array(fc.oneof({ weight: 9, arbitrary: words }, fc.string({ maxLength: 6, unit: 'grapheme' })), {
    maxLength: 14,
  })
  .chain((list) => fc.constantFrom(' ', '', '  ').map((blank) => list.join(blank)));
const texts = fc.oneof(
  rest,
  rest.map((text) => `SELECT count(*) FROM T ${text}`),
  fc.tuple(rest, rest).map(([item, text]) => `SELECT max(${item}) FROM T WHERE ${text}`),
);
const keys = fc.constantFrom('as: x', 'as: { constructor: x }', 'as: x, labels: { a.b: c }');

describe('any text as NRQL', () => {
  it('is read as it is written, but for blanks', () => {
    fc.assert(
      fc.property(texts, (written) => {
        const { text } = readNrql(written);
        const changed = text.split('').filter((unit, at) => unit !== written[at]);
        expect(text.length).toBeLessThanOrEqual(written.length);
        expect(changed.join('').trim()).toBe('');
      }),
      { numRuns: 400 },
    );
  });

  it('is accepted, or refused at places within it, and nothing is thrown', slow, async () => {
    await fc.assert(
      fc.asyncProperty(texts, keys, async (written, entry) => {
        const nrql = JSON.stringify(written.slice(0, 4000) || 'x');
        const text = `accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }]
queries: [{ ${entry}, nrql: ${nrql} }]`;
        const found = await inspectConfig(text, { fileName: 'c', directory: '/' });
        for (const { line } of found.diagnose([...found.errors, ...found.warnings])) {
          expect(line).toBe(2);
        }
        const [query] = found.config?.queries ?? [];
        if (found.errors.length > 0 || query === undefined) return;
        const { at, length } = query.added ?? { at: 0, length: 0 };
        const asked = query.nrql.slice(0, at) + query.nrql.slice(at + length);
        expect(asked).toBe(readNrql(query.written).text);
        expect(query.nrql.slice(at, at + length)).toBe(length === 0 ? '' : ' AS gauge_value');
      }),
      { numRuns: 200 },
    );
  });

  it('is read to its end however long what repeats in it is', slow, () => {
    const long = [
      '(',
      '[',
      "'",
      '"',
      '`',
      '/*',
      'a',
      ' ',
      ',',
      ';',
      'FACET ',
      'LIMIT ',
      'x AS y,',
      '“',
    ];
    for (const one of long) {
      const text = `SELECT max(d) FROM T ${one.repeat(4000 / one.length)}`;

      expect(text.startsWith(readNrql(text).text.trimEnd().slice(0, 20))).toBe(true);
    }
  });
});
