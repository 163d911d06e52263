import { describe, expect, it } from 'vitest';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';

const source = { fileName: 'config.yaml', directory: '/' };
const accounts = 'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }]';
const select = 'SELECT count(*) FROM T';

describe('a file with queries', () => {
  const query = `queries: [{ as: x, nrql: ${select} }]`;

  it.each(['', 'apps: []', 'apps: [{ match: ., exclude: true }]'])(
    'needs no applications: %s',
    async (apps) => {
      const text = [accounts, apps, query].join('\n');
      const { config } = await parseConfig(text, source);
      const again = await parseConfig(effectiveConfigText(config), source);

      expect(config.queries).toHaveLength(1);
      expect(again.config).toEqual(config);
    },
  );

  it.each([
    [accounts, '1:1', 'missing key "apps"'],
    [`${accounts}\nqueries: []`, '1:1', 'missing key "apps"'],
    [`${accounts}\napps: []\nqueries: []`, '2:7', '"apps" must not be empty'],
    [`${accounts}\napps: [{ match: ., exclude: true }]\nqueries: []`, '2:8', 'nothing is polled'],
  ])('needs them if there is none: %s', async (text, place, message) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(place);
    expect(wordsOf(found)).toContain(message);
  });

  it.each([
    ['"*"', ['a', 'c']],
    ['[c, a]', ['c', 'a']],
    ['c', ['c']],
  ])('asks one query of several accounts: %s', async (account, asked) => {
    const text = `accounts:
  - { name: a, source: nerdgraph, account_id: 1, api_key_env: K }
  - { name: b, api_key_env: K }
  - { name: c, source: nerdgraph, account_id: 2, api_key_env: K }
queries:
  - { as: x, account: ${account}, nrql: ${select}, help: h, constant_labels: { d: e } }`;
    const { config } = await parseConfig(text, source);
    const again = await parseConfig(effectiveConfigText(config), source);

    expect(config.queries?.map((one) => one.account)).toEqual(asked);
    expect(
      new Set(config.queries?.map((one) => JSON.stringify({ ...one, account: '' }))).size,
    ).toBe(1);
    expect(again.config).toEqual(config);
  });
});

describe('a name that every object of JavaScript has', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__', '__defineGetter__'];

  it.each(names)('is a name like others: %s', async (name) => {
    const account = `accounts: [{ name: ${name}, source: nerdgraph, account_id: 1, api_key_env: ${name} }]`;
    for (const rest of [
      `apps: [{ match: ., tags: [${name}], account: ${name} }]`,
      `queries: [{ as: x, nrql: SELECT max(a) AS ${name} FROM ${name} }]`,
      `queries: [{ as: x, nrql: SELECT ${name}(a) FROM T FACET ${name} LIMIT 9 }]`,
      `queries: [{ as: x, account: [${name}], nrql: ${select} FACET host LIMIT 9 }]`,
    ]) {
      expect(JSON.stringify(await findingsIn(`${account}\n${rest}`))).not.toContain('native');
      const { config } = await parseConfig(`${account}\n${rest}`, source);
      expect(JSON.stringify(config)).not.toContain('native');
    }
  });
});
