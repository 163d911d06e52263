import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { failureOf, headlinesOf } from './config-failure.ts';

async function failureOfPattern(pattern: string): Promise<string> {
  return failureOf(`apps:\n  - match: '${pattern}'\n`);
}

const several = 'use several entries: an application belongs to the first that selects it';
const syntax = 'the syntax is that of RE2, as in Prometheus';

describe('parseConfig, with a regular expression that only JavaScript has', () => {
  it('marks the part that is wrong, and says what to write instead', async () => {
    expect(await failureOfPattern('^shop-(?!test)')).toBe(
      [
        'config.yaml:2:19: "match" is not a valid regular expression: RE2 syntax has no look-ahead',
        "  2 |   - match: '^shop-(?!test)'",
        '    |                   ^^^',
        `    = help: ${several}`,
      ].join('\n'),
    );
  });

  it.each([
    { pattern: 'a(?=b)', column: 2, problem: 'RE2 syntax has no look-ahead', help: several },
    { pattern: '(?<=a)b', column: 0, problem: 'RE2 syntax has no look-behind', help: several },
    { pattern: 'x(?<!a)b', column: 2, problem: 'RE2 syntax has no look-behind', help: several },
    {
      // In two places.
      pattern: '\\\\1(a)\\1',
      column: 0,
      problem: 'RE2 syntax has no back-references',
      help: 'write the group again',
    },
    {
      pattern: '(?<n>a)\\k<n>',
      column: 8,
      problem: 'RE2 syntax has no back-references',
      help: 'write the group again',
    },
    {
      pattern: 'a\\u{1F600}',
      column: 2,
      problem: 'RE2 syntax has no \\u',
      help: 'write the character itself, or its code point as \\x{1F600}',
    },
    {
      pattern: '\\u0041',
      column: 1,
      problem: 'RE2 syntax has no \\u',
      help: 'write the character itself, or its code point as \\x{1F600}',
    },
    {
      pattern: 'a\\cA',
      column: 2,
      problem: 'RE2 syntax has no \\c',
      help: 'write the code point of the character as \\x{1}',
    },
    {
      pattern: '\\p{Script=Greek}',
      column: 0,
      problem: 'invalid character class range',
      help: 'write \\p{Greek}',
    },
    {
      pattern: 'a\\P{Letter}',
      column: 2,
      problem: 'invalid character class range',
      help: 'the names are short ones such as \\p{Lu}, and scripts such as \\p{Greek}',
    },
    { pattern: 'a[\\b]', column: 3, problem: 'invalid escape sequence', help: syntax },
    { pattern: '(?>a)', column: 1, problem: 'RE2 syntax has no atomic groups' },
    { pattern: '(?<ñ>a)', column: 1, problem: 'invalid named capture', help: syntax },
    { pattern: '(?<n>a)|(?<n>b)', column: 0, problem: 'duplicate capture group name' },
    {
      pattern: 'ab{1001}',
      column: 3,
      problem: 'invalid repeat count',
      help: 'counts go from small to large and end at 1000, those in one another multiplied',
    },
    { pattern: '(a))', column: 0, problem: 'unexpected )', help: syntax },
    { pattern: 'a(b', column: 0, problem: 'missing closing )', help: syntax },
    { pattern: 'a[b', column: 2, problem: 'missing closing ]', help: syntax },
    { pattern: 'a**', column: 2, problem: 'invalid nested repetition operator', help: syntax },
    { pattern: 'a\\', column: 0, problem: 'trailing backslash at end of expression', help: syntax },
  ])('refuses $pattern', async ({ pattern, column, problem, help }) => {
    const failure = await failureOfPattern(pattern);

    const place = `config.yaml:2:${12 + column}`;
    const [headline] = failure.split('\n');
    expect(headline).toBe(`${place}: "match" is not a valid regular expression: ${problem}`);
    expect(failure).toContain(`= help: ${help ?? ''}`);
  });

  it.each([
    { pattern: '[^]', help: 'for any character write (?s:.)' },
    { pattern: '[]', help: 'write what may be there' },
  ])('refuses $pattern', async ({ pattern, help }) => {
    expect(await failureOfPattern(pattern)).toContain(`RE2 syntax has no ${pattern}\n`);
    expect(await failureOfPattern(pattern)).toContain(`= help: ${help}`);
  });

  it('marks the whole text if it is written with escapes', async () => {
    const headlines = await headlinesOf('apps: [{ match: "\\x61b(?=c)" }]');

    expect(headlines[0]).toMatch(/^config.yaml:1:17: /u);
  });

  it('marks only the part if it is written without quotes', async () => {
    const headlines = await headlinesOf('apps:\n  - match: ab(?=c)\n');

    expect(headlines[0]).toMatch(/^config.yaml:2:14: /u);
  });
});

const tooLarge = /is too large a regular expression/u;

describe('parseConfig, with a regular expression that is too large', () => {
  // Compiling these would take from tenths of a second to minutes, and up to gigabytes.
  it.each([
    { what: 'a counted literal', pattern: `(?:${'a'.repeat(990)}){1000}` },
    { what: 'counted optionals', pattern: `(?:${'(?:a?)'.repeat(140)}){1000}` },
    { what: 'counted Unicode classes', pattern: `(?:${'\\pL'.repeat(330)}){1000}` },
    { what: 'counted groups', pattern: `(?:${'(a)'.repeat(80)}){1000}` },
    { what: 'counts beside one another', pattern: 'a{1000}'.repeat(100) },
    { what: 'counts in counts', pattern: `(?:(?:${'a'.repeat(90)}){0,25}){25,}` },
    { what: 'counts in a thousand groups', pattern: `${'('.repeat(999)}a${'){2}'.repeat(999)}` },
    { what: 'many classes of all cases', pattern: `(?i)${'[a-\\x{10FFFF}]'.repeat(300)}` },
    { what: 'one class of many', pattern: `(?i)[${'\\pL'.repeat(1300)}]` },
    { what: 'groups without end', pattern: '('.repeat(100_000) },
    { what: 'many words', pattern: `^(?:${'word|'.repeat(1000)})$` },
  ])('refuses $what before compiling it', async ({ pattern }) => {
    const [headline] = await headlinesOf(`apps:\n  - match: '${pattern}'\n`);

    expect(headline).toMatch(tooLarge);
    expect(headline).toMatch(/ characters/u);
  });

  it('refuses what a search would take too long with, and says how large it is', async () => {
    const failure = await failureOfPattern('(?:ab){1000}c{5}');

    expect(failure).toMatch(tooLarge);
    expect(failure).toMatch(/\b2007 steps\b.*\b2000 are allowed/u);
    expect(failure).toContain('use smaller counts');
  });

  it.each(['(a{1000}){1000}', '(a{1000}){2}', '((a{100}){100}){100}', 'a{1001}', 'a{0,2000}'])(
    'refuses %s, as the engine does',
    async (pattern) => {
      expect(await headlinesOf(`apps:\n  - match: '${pattern}'\n`)).toHaveLength(1);
    },
  );

  it.each([
    'a{1000}',
    '^[0-9a-f]{64}$',
    '(?i)^[0-9a-f-]{36}$',
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^(?:[a-z0-9]{1,63}\\.){1,8}[a-z]{2,63}$',
    '^(?:checkout|billing|search|payments|cart)-(?:eu|us)-[0-9]{1,3}$',
    `^(?:${Array.from({ length: 130 }, (_, index) => `application-${index}`).join('|')})$`,
  ])('accepts %s', async (pattern) => {
    const headlines = await headlinesOf(`apps:\n  - match: '${pattern}'\n  - {}\n`);

    expect(headlines).toStrictEqual([expect.stringContaining('config.yaml:3:5: ')]);
  });
});

describe('parseConfig, with regular expressions that are too large together', () => {
  it('says how much they come to, and how much is allowed', async () => {
    const entries = Array.from(
      { length: 110 },
      (_, index) => `  - match: a{1000}b{900}${index + 1000}\n`,
    );
    const [headline, ...others] = await headlinesOf(`apps:\n${entries.join('')}`);

    expect(headline).toMatch(/^config\.yaml:101:12: .* 200600 steps, .* 200000 are allowed$/u);
    expect(others).toEqual([]);
  });

  it('counts a text once, however many entries have it', async () => {
    const entry = (_: unknown, id: number): string =>
      `  - { id: ${id + 1}, hosts: { match: "^web-" } }\n`;
    const text = `apps:\n${Array.from({ length: 3000 }, entry).join('')}`;
    const { config } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });

    expect(config.apps).toHaveLength(3000);
  });
});
