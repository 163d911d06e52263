import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type FileValue, writeYaml } from '../../src/config/write-yaml.ts';

describe('writeYaml', () => {
  it('writes maps and lists as people do, and quotes only what needs quotes', () => {
    const value = {
      name: 'a b',
      truth: 'true',
      empty: '',
      number: '1e3',
      octal: 0,
      lists: [[], {}, ['x', 5, false], { a: '1h30m', b: { c: 'http://proxy:3128' } }],
    };

    expect(writeYaml(value)).toBe(`name: a b
truth: "true"
empty: ""
number: "1e3"
octal: 0
lists:
  - []
  - {}
  - - x
    - 5
    - false
  - a: 1h30m
    b:
      c: http://proxy:3128
`);
  });

  it('is read by the library as what it was, whatever it is', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.string({ unit: 'grapheme', maxLength: 10 }),
      fc.constantFrom(
        '~',
        'Null',
        'NO',
        '0x1',
        '.5',
        '-',
        '- a',
        'a: b',
        'a #b',
        '---',
        '...',
        '@',
      ),
      fc.constantFrom('2024-01-01', '1:30', '1_000', '!x', '&a', '*a', '%a', '`', '|', '>', 'a\nb'),
    );
    const { value } = fc.letrec<{ value: FileValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(text, value, { noNullPrototype: true }), (map) => {
        expect(parse(writeYaml(map), { uniqueKeys: false })).toEqual(map);
      }),
      { numRuns: 500 },
    );
  });
});
