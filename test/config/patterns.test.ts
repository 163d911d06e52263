import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { slow } from '../support/slow.ts';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';

const tooLarge = /is too large a regular expression: .* characters/u;

describe('patternProblems', () => {
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
    expect(wordsOf(await findingsIn(`apps:\n  - match: '${pattern}'\n`))).toMatch(tooLarge);
  });

  it.each([
    'a{1000}',
    '(?i)^[0-9a-f-]{36}$',
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^(?:[a-z0-9]{1,63}\\.){1,8}[a-z]{2,63}$',
    '^(?:checkout|billing|search|payments|cart)-(?:eu|us)-[0-9]{1,3}$',
    `^(?:${Array.from({ length: 130 }, (_, index) => `application-${index}`).join('|')})$`,
  ])('accepts %s', async (pattern) => {
    expect(await findingsIn(`apps:\n  - match: '${pattern}'\n`)).toEqual([]);
  });

  it(
    'reports where the expressions of a file are too large together, and by how much',
    slow,
    async () => {
      const entries = Array.from(
        { length: 110 },
        (_, index) => `  - match: a{1000}b{900}${index + 1000}\n`,
      );

      const found = await findingsIn(`apps:\n${entries.join('')}`);
      expect(placesOf(found)).toBe('101:12');
      expect(wordsOf(found)).toMatch(/ 200600 steps, .* 200000 are allowed$/mu);
    },
  );

  it('counts a text once, however many entries have it', slow, async () => {
    const entry = (_: unknown, id: number): string =>
      `  - { id: ${id + 1}, hosts: { match: "^web-" } }\n`;
    const text = `apps:\n${Array.from({ length: 3000 }, entry).join('')}`;
    const { config } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });

    expect(config.apps).toHaveLength(3000);
  });
});
