import { RE2JS } from 're2js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CompilePattern, loadPatternCompiler } from '../../src/config/patterns.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { hardName } from './hard-name.ts';

let compile: CompilePattern;

beforeAll(async () => {
  compile = await loadPatternCompiler();
});

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
});
