import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CompilePattern, loadPatternCompiler } from '../../src/config/patterns.ts';
import { hardName } from './hard-name.ts';

let compile: CompilePattern;

beforeAll(async () => {
  compile = await loadPatternCompiler();
});

describe('a name pattern', () => {
  it('keeps a bounded cache, however many expressions there are', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapMb = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    const patterns = Array.from({ length: 30 }, (_, index) =>
      compile(`[ab]*a[ab]{${300 + index}}[cd]`),
    );
    const beforeMb = heapMb();

    for (const [index, pattern] of patterns.entries()) {
      for (let seed = 0; seed < 3; seed += 1) pattern.test(hardName(900, index * 10 + seed));
    }

    expect(patterns).toHaveLength(30);
    expect(heapMb() - beforeMb).toBeLessThan(40);
  });
});

/** Expressions with the same meaning in JavaScript and RE2. */
const common = fc.letrec<{ readonly part: string; readonly whole: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('a', 'b', '-', '\\.', '\\d', '\\w', '\\W', '[a-c]', '[^a-]', '😀', 'é', '\\/'),
    fc.constantFrom(
      '.',
      '^',
      '$',
      '\\b',

      '[😀-😂]',
      '\\p{L}',
      '\\P{Lu}',
      '\\x41',
      '[\\-\\]]',
    ),
    tie('whole').map((inner) => `(${inner})`),
    tie('whole').map((inner) => `(?:${inner})`),
    fc
      .tuple(tie('whole'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}', '{2,}', '{0}'))
      .map(([inner, operator]) => `(?:${inner})${operator}`),
    fc.tuple(tie('part'), tie('part')).map(([one, other]) => `(?:${one}|${other})`),
  ),
  whole: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
}));

describe('RE2 and JavaScript', () => {
  it('agree on every name if an expression is valid in both', () => {
    const letters = fc.constantFrom('a', 'b', 'c', '-', '.', '0', '_', ' ', 'A', 'é', '😀', '😁');
    const name = fc.oneof(
      fc.string({ unit: letters, maxLength: 8 }),
      fc.string({ unit: 'binary' }),
    );
    let agreed = 0;

    fc.assert(
      fc.property(common.whole, fc.array(name, { maxLength: 6 }), (source, names) => {
        const expected = new RegExp(source, 'u');
        const pattern = compile(source);
        // In JavaScript the dot excludes two more line separators.
        const plain = names.filter((one) => !/[\r\u2028\u2029]/u.test(one));

        expect(plain.map((one) => pattern.test(one))).toStrictEqual(
          plain.map((one) => expected.test(one)),
        );
        agreed += plain.length;
      }),
      { numRuns: 1500 },
    );
    expect(agreed).toBeGreaterThan(1000);
  });
});
