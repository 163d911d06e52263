import { describe, expect, it } from 'vitest';
import { failureOf, headlinesOf } from './config-failure.ts';

function lines(...rows: readonly string[]): string {
  return rows.join('\n');
}

describe('parseConfig, with a text that is not a configuration', () => {
  it.each([
    {
      name: 'an empty file',
      text: '',
      message: lines('config.yaml: the file is empty', '    = help: it needs at least "apps"'),
    },
    {
      name: 'a file of comments',
      text: '# nothing\n---\n',
      message: lines('config.yaml: the file is empty', '    = help: it needs at least "apps"'),
    },
    {
      name: 'a list',
      text: '- id: 1',
      message: lines(
        'config.yaml:1:1: the file must be a map with the key "apps", not a list',
        '  1 | - id: 1',
        '    | ^^^^^^^',
      ),
    },
    {
      name: 'a text',
      text: 'apps',
      message: lines(
        'config.yaml:1:1: the file must be a map with the key "apps", not "apps"',
        '  1 | apps',
        '    | ^^^^',
      ),
    },
    {
      name: 'several documents',
      text: 'apps: [{id: 1}]\n---\napps: [{id: 2}]\n',
      message: lines(
        'config.yaml:2:1: the file holds several documents',
        '  2 | ---',
        '    | ^^^',
        '    = help: keep one document: remove the line "---" and what follows it',
      ),
    },
    {
      name: 'a duplicate key',
      text: 'apps: [{id: 1}]\napps: []\n',
      message: lines('config.yaml:2:1: duplicate key "apps"', '  2 | apps: []', '    | ^^^^'),
    },
    {
      name: 'a colon in a value',
      text: 'apps:\n  - name: Shop: production\n',
      message: lines(
        'config.yaml:2:11: YAML: Nested mappings are not allowed in compact mappings',
        '  2 |   - name: Shop: production',
        '    |           ^',
        '    = help: put a value that holds ": " in quotes',
      ),
    },
    {
      name: 'a tab as indentation',
      text: 'apps:\n\t- id: 1\n',
      message: lines(
        'config.yaml:2:1: YAML: Tabs are not allowed as indentation',
        '  2 |  - id: 1',
        '    | ^',
        '    = help: indent with spaces',
      ),
    },
    {
      name: 'a tag',
      text: 'apps: !secret [{id: 1}]',
      message: lines(
        'config.yaml:1:7: YAML: Unresolved tag: !secret',
        '  1 | apps: !secret [{id: 1}]',
        '    |       ^^^^^^^',
        '    = help: only plain values are allowed: remove the tag',
      ),
    },
    {
      name: 'an alias without an anchor',
      text: 'apps: *x',
      message: lines(
        'config.yaml:1:7: the alias "*x" stands for nothing',
        '  1 | apps: *x',
        '    |       ^^',
        '    = help: put a text that begins with * in quotes; for an alias, "&x" must come before it',
      ),
    },
    {
      name: 'an alias of itself',
      text: 'apps: &x [*x]',
      message: lines(
        'config.yaml:1:11: the alias "*x" stands for nothing',
        '  1 | apps: &x [*x]',
        '    |           ^^',
        '    = help: put a text that begins with * in quotes; for an alias, "&x" must come before it',
      ),
    },
    {
      name: 'a key that is a list',
      text: '? [a]\n: 1',
      message: lines('config.yaml:1:1: a key must be a plain name', '  1 | ? [a]', '    | ^^^^^'),
    },
    {
      name: 'a key that JavaScript treats specially',
      text: 'apps: [{id: 1, labels: {__proto__: x}}]',
      message: lines(
        'config.yaml:1:25: a key must be a plain name',
        '  1 | apps: [{id: 1, labels: {__proto__: x}}]',
        '    |                         ^^^^^^^^^',
      ),
    },
  ])('explains $name', async ({ text, message }) => {
    expect(await failureOf(text)).toBe(message);
  });

  it('refuses an alias bomb', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, index) => {
        const alias = `*${'abcdefg'[index]}`;
        return `${name}: &${name} [${Array.from({ length: 10 }, () => alias).join(', ')}]`;
      }),
    ].join('\n');

    expect(await headlinesOf(bomb)).toStrictEqual([
      'config.yaml:5:36: the aliases stand for more than 100000 values',
    ]);
  });

  it('allows an alias in every app of a large file', async () => {
    const apps = Array.from({ length: 3000 }, (_, index) => `  - {id: ${index + 1}, labels: *l}`);
    const text = ['x: &l {team: a}', 'apps:', ...apps].join('\n');

    expect(await headlinesOf(text)).toStrictEqual(['config.yaml:1:1: unknown key "x"']);
  });

  it.each([
    { name: 'brackets', text: '['.repeat(1_000_000), column: 52 },
    { name: 'dashes', text: '- '.repeat(500_000), column: 103 },
    { name: 'questions', text: '? '.repeat(500_000), column: 103 },
    { name: 'maps', text: `${'{a: '.repeat(5000)}${'}'.repeat(5000)}`, column: 205 },
  ])('stops at the place where $name are nested too deeply', async ({ text, column }) => {
    expect(await headlinesOf(text)).toStrictEqual([
      `config.yaml:1:${column}: values are nested more than 50 deep`,
    ]);
  });

  it('accepts values that are nested almost as deeply', async () => {
    const text = `apps: ${'['.repeat(49)}${']'.repeat(49)}`;

    expect(await headlinesOf(text)).toStrictEqual([
      'config.yaml:1:8: each entry of "apps" must be a map, not a list',
    ]);
  });

  it('reports only the first twenty syntax errors', async () => {
    expect(await headlinesOf('a: !x 1\n'.repeat(100))).toHaveLength(20);
  });
});
