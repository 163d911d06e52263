import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CompilePattern, loadPatternCompiler } from '../../src/config/name-pattern.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

let compile: CompilePattern;

beforeAll(async () => {
  compile = await loadPatternCompiler();
});

/** Two letters without a pattern: the worst input for many expressions. */
function hardName(length: number, seed: number): string {
  let state = seed;
  let name = '';
  for (let index = 0; index < length; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    name += state > 1_073_741_824 ? 'a' : 'b';
  }
  return `cd1${name}`;
}

describe('a name pattern', () => {
  it.each([
    { source: '^shop-', name: 'shop-eu', matches: true },
    { source: '^shop-', name: 'my shop-eu', matches: false },
    { source: 'shop', name: 'my shop-eu', matches: true },
    { source: 'shop$', name: 'shop\n', matches: false },
    { source: '(?i)^SHOP', name: 'shop-eu', matches: true },
    { source: '(?i)straße', name: 'STRAßE', matches: true },
    { source: '^.$', name: '😀', matches: true },
    { source: '^..$', name: '😀', matches: false },
    { source: '[😀-😂]{2}', name: 'a😀😁', matches: true },
    { source: '\\x{1F600}', name: '😀', matches: true },
    { source: '^\\p{Greek}+$', name: 'αβγ', matches: true },
    { source: '^shop-.$', name: 'shop-\ud83d', matches: true },
    { source: '[\\-\\/]\\/\\-', name: 'a-/-', matches: true },
    { source: '(?P<a>x)|(?<b>y)', name: 'y', matches: true },
  ])('$source and $name: $matches', ({ source, name, matches }) => {
    expect(compile(source).test(name)).toBe(matches);
  });

  it('always gives the same answer, in every order', () => {
    const patterns = ['^a', 'b+$', '(?i)A.B'].map((source) => compile(source));
    const names = ['a', 'aab', 'xAxBx', ''];
    const answers = (): readonly (readonly boolean[])[] =>
      names.map((name) => patterns.map((pattern) => pattern.test(name)));

    const first = answers();

    expect(answers()).toStrictEqual(first);
    expect(first).toStrictEqual([
      [true, false, false],
      [true, true, true],
      [false, false, true],
      [false, false, false],
    ]);
  });

  it('searches only the beginning of a very long name', () => {
    const name = `${'a'.repeat(999)}b${'c'.repeat(1_000_000)}`;

    expect(compile('ab$').test(name)).toBe(true);
    expect(compile('c').test(name)).toBe(false);
  });

  // A backtracking engine would need longer than the age of the universe for each of them.
  it.each([
    '^([a-z0-9]+-?)+$',
    '^(a+)+$',
    '^(a|aa)+$',
    '(.*)(.*)(.*)(.*)(.*)(.*)[^\\x00-\\x{10FFFF}]',
    '(x+x+)+y',
    `${'a?'.repeat(300)}${'a'.repeat(300)}`,
    '(?:(?:a*)*)*b',
    '[ab]*a[ab]{900}[cd]',
    '(?:.*a){300}.*c',
    '(?i)(?:\\pL|\\pN){300}c',
  ])('finishes a search: %s', (source) => {
    const pattern = compile(source);
    const names = [
      'checkout-service-production-eu-west-1 (old)',
      `${'a'.repeat(31)}!`,
      `${'x'.repeat(1_000_000)}!`,
      hardName(1000, 1),
      '😀'.repeat(1000),
    ];

    expect(names.map((name) => pattern.test(name))).toHaveLength(names.length);
  });

  it('is as fast as the engine when many expressions alternate', () => {
    const names = Array.from({ length: 500 }, (_, index) => `shop-abc-${index % 97} (eu-${index})`);
    const sources = Array.from({ length: 20 }, (_, index) => `(?:[a-f]+-){${index}}|[x-z]{3}`);
    const searchMs = (patterns: readonly { test(name: string): boolean }[]): number =>
      cpuMsOf(() => {
        for (const name of names) for (const pattern of patterns) pattern.test(name);
      });

    const engine = sources.map((source) => RE2JS.compile(source));
    const patterns = sources.map((source) => compile(source));
    // The first round fills the caches, and warms up the machine.
    for (const learning of [engine, patterns]) searchMs(learning);
    const engineMs = searchMs(engine);
    const patternsMs = searchMs(patterns);

    expect(names.filter((name) => patterns[1]?.test(name) === true)).toHaveLength(500);
    // Clearing the caches between two names would take more than thirty times as long.
    expect(patternsMs).toBeLessThan(engineMs * 10);
  });

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
