import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { failureOf, findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';

const column = 'in the same column';

const cases: readonly Row[] = [
  ['', '0:0', 'the file is empty', 'it needs at least "apps"'],
  ['# nothing\n---\n', '0:0', 'the file is empty'],
  ['- id: 1', '1:1', 'a map with the key "apps", not a list'],
  ['apps', '1:1', 'not "apps"'],
  ['apps: [{id: 1}]\n---\napps: []\n', '2:1', 'several documents', 'remove the line "---"'],
  ['apps: [{id: 1}]\napps: []\n', '2:1', 'duplicate key "apps"'],
  ['apps:\n  - name: Shop: production\n', '2:11', 'Nested mappings', 'in quotes'],
  ['apps:\n\t- id: 1\n', '2:1', 'Tabs', 'indent with spaces'],
  ['apps: !secret [{id: 1}]', '1:7', '!secret', 'remove the tag'],
  ['apps:\n  - name: @shop', '2:11', 'reserved character @', 'in quotes'],
  ['apps:\n  - match: "\\d+"', '2:13', '\\d', 'single quotes'],
  ['apps:\n  - name: "x\n    hosts: false', '3:17', 'Missing closing "quote', 'every quote'],
  ['apps:\n  - transactions: [web\n  - id: 2', '3:3', 'end with a ]', 'close every bracket'],
  ['apps:\n  - name: x\n   hosts: false', '3:1', 'without - indicator', column],
  ['apps:\n  - name: x\n     hosts: false', '2:11', 'Nested mappings', column],
  ['apps:\n  - name: x\n  hosts: false', '3:1', 'must start at the same column', column],
  ['apps:\n  - name:x\n    hosts: true', '2:5', 'on a single line', 'blank after the colon'],
  ['apps:\n  - {id: 1}}', '2:12', '"}"'],
  ['apps: *x', '1:7', 'the alias "*x" stands for nothing', '"&x" must come before it'],
  ['apps: &x [*x]', '1:11', 'the alias "*x" stands for nothing'],
  ['? [a]\n: 1', '1:3', 'a key must be a plain name'],
  ['apps: [{id: 1, labels: {__proto__: x}}]', '1:25', 'a key must be a plain name'],
  ['apps: [{id: 1, labels: *}]', '1:24', 'Alias'],
];

describe('readYaml', () => {
  it.each(cases)('says what is wrong, and where: %s', async (text, places, ...facts) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(places);
    for (const fact of facts) expect(wordsOf(found)).toContain(fact);
  });

  it('refuses an alias bomb', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, index) => {
        const alias = `*${'abcdefg'[index]}`;
        return `${name}: &${name} [${Array.from({ length: 10 }, () => alias).join(', ')}]`;
      }),
    ].join('\n');

    const found = await findingsIn(bomb);
    expect(placesOf(found)).toBe('5:36');
    expect(wordsOf(found)).toContain('the aliases stand for more than 100000 values');
  });

  it('allows an alias in every app of a large file', slow, async () => {
    const apps = Array.from({ length: 3000 }, (_, index) => `  - {id: ${index + 1}, labels: *l}`);
    const text = ['x: &l {team: a}', 'apps:', ...apps].join('\n');

    expect(wordsOf(await findingsIn(text))).toContain('unknown key "x"');
  });

  it('refuses a map with more keys than anybody writes', async () => {
    const labels = (count: number): string =>
      `apps: [{id: 1, labels: {${Array.from({ length: count }, (_, index) => `l${index}: x`).join(', ')}}}]`;

    expect(await failureOf(labels(1001))).toContain('a map has more than 1000 keys');
    expect(await findingsIn(labels(1000))).toEqual([]);
  });

  eachAfter(1, [
    { name: 'brackets', text: '['.repeat(1_000_000), at: '1:52' },
    { name: 'dashes', text: '- '.repeat(500_000), at: '1:103' },
    { name: 'questions', text: '? '.repeat(500_000), at: '1:103' },
    { name: 'maps', text: `${'{a: '.repeat(5000)}${'}'.repeat(5000)}`, at: '1:205' },
  ])('stops at the place where $name are nested too deeply', async ({ text, at }) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(at);
    expect(wordsOf(found)).toContain('nested more than 50 deep');
  });

  it('accepts values that are nested almost as deeply', async () => {
    const text = `apps: ${'['.repeat(49)}${']'.repeat(49)}`;

    expect(wordsOf(await findingsIn(text))).toContain('must be a map, not a list');
  });

  it('reports only the first twenty syntax errors', async () => {
    expect(await findingsIn('a: !x 1\n'.repeat(100))).toHaveLength(20);
  });

  it('takes a key that is no text for what is written', async () => {
    const text = 'apps: [{id: 1, labels: {true: a, null: b}}]';
    const { config } = await parseConfig(text, { fileName: 'f', directory: '/' });

    expect(config.apps[0]?.labels).toEqual({ true: 'a', null: 'b' });
  });
});
