import { describe, expect, it } from 'vitest';
import { renderDiagnostic } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

async function warningsOf(text: string): Promise<readonly string[]> {
  const { warnings } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });
  return warnings.map(renderDiagnostic);
}

/** A file with an account in each row, which the one with that place in the list has an app of. */
function accounts(rows: readonly string[], poll = ''): string {
  const apps = rows.map((_, index) => `  - { id: 1, account: a${index} }`);
  const list = rows.map((row, index) => `  - { name: a${index}, ${row} }`);
  return ['accounts:', ...list, poll, 'apps:', ...apps].join('\n');
}

const nerdgraph = 'api_key_env: K, source: nerdgraph, account_id:';

describe('parseConfig, with warnings of NerdGraph', () => {
  it('warns of accounts with the same key that have more calls in flight than NerdGraph allows', async () => {
    const text = accounts([`${nerdgraph} 1, concurrency: 20`, `${nerdgraph} 2, concurrency: 6`]);

    expect(await warningsOf(text)).toStrictEqual([
      [
        'config.yaml:3:80: warning: the accounts "a0" and "a1" have the same API key and together a concurrency of 26: NerdGraph refuses more than 25 requests in flight per user',
        '  3 |   - { name: a1, api_key_env: K, source: nerdgraph, account_id: 2, concurrency: 6 }',
        '    |                                                                                ^',
        '    = help: lower "concurrency" to 25 in all',
      ].join('\n'),
    ]);
  });

  it('names ten of many accounts, and points to the name of the last without a concurrency', async () => {
    const [warning = ''] = await warningsOf(
      accounts(Array.from({ length: 12 }, (_, index) => `${nerdgraph} ${index + 1}`)),
    );

    expect(warning).toMatch(
      /^config.yaml:13:13: warning: the accounts "a0", .*, "a9" and 2 more have .* concurrency of 60: /u,
    );
  });

  it('warns of accounts with the same id that have more queries than New Relic allows for it', async () => {
    const text = accounts([
      `${nerdgraph} 1, requests_per_minute: 2000`,
      'api_key_env: L, source: nerdgraph, account_id: 1, requests_per_minute: 1001',
    ]);

    expect(await warningsOf(text)).toStrictEqual([
      [
        'config.yaml:3:88: warning: the accounts "a0" and "a1" have the same account_id and together a budget of 3001 requests_per_minute: New Relic\'s quota of NRQL queries for one account is 3000',
        '  3 |   - { name: a1, api_key_env: L, source: nerdgraph, account_id: 1, requests_per_minute: 1001 }',
        '    |                                                                                        ^^^^',
        '    = help: lower "requests_per_minute" to 3000 in all',
      ].join('\n'),
    ]);
  });

  it('warns of unrounded values for an app, which it has anyway', async () => {
    const text = accounts([`${nerdgraph} 1`]).replace('{ id: 1,', '{ id: 1, raw: true,');

    expect(await warningsOf(text)).toStrictEqual([
      [
        'config.yaml:5:19: warning: "raw" has no effect: the account "a0" has "source: nerdgraph", which never rounds values',
        '  5 |   - { id: 1, raw: true, account: a0 }',
        '    |                   ^^^^',
        '    = help: leave it out',
      ].join('\n'),
    ]);
  });

  it('warns of unrounded values for all apps, if none has another source', async () => {
    const text = accounts([`${nerdgraph} 1`], 'poll: { raw: true }');

    expect(await warningsOf(text)).toStrictEqual([
      [
        'config.yaml:3:14: warning: "raw" has no effect: NerdGraph never rounds values, and no entry of apps has another source',
        '  3 | poll: { raw: true }',
        '    |              ^^^^',
        '    = help: leave it out',
      ].join('\n'),
    ]);
  });

  it('counts the budget that accounts share once', async () => {
    const budget = 'requests_per_minute: 2000';
    const text = accounts([`${nerdgraph} 1, ${budget}`, `${nerdgraph} 1, ${budget}`]);

    const [warning, ...others] = await warningsOf(text);

    expect(warning).toContain('they share the smallest of their budgets');
    expect(others).toStrictEqual([]);
  });

  const rest = 'api_key_env: R';
  it.each([
    {
      what: 'as many calls in flight as NerdGraph allows',
      text: accounts([`${nerdgraph} 1, concurrency: 20`, `${nerdgraph} 2`]),
    },
    {
      what: 'more calls in flight of several users',
      text: accounts([
        `${nerdgraph} 1, concurrency: 20`,
        'api_key_env: L, source: nerdgraph, account_id: 2, concurrency: 20',
      ]),
    },
    {
      what: 'more calls in flight with REST',
      text: accounts([`${nerdgraph} 1, concurrency: 20`, 'api_key_env: K, concurrency: 20']),
    },
    {
      what: 'more calls in flight at several addresses',
      text: accounts([
        `${nerdgraph} 1, concurrency: 20`,
        `${nerdgraph} 1, concurrency: 20, region: eu`,
      ]),
    },
    {
      what: 'as many queries as New Relic allows for an account',
      text: accounts([
        `${nerdgraph} 1, requests_per_minute: 2000`,
        'api_key_env: L, source: nerdgraph, account_id: 1, requests_per_minute: 1000',
      ]),
    },
    {
      what: 'more queries of several accounts',
      text: accounts([
        `${nerdgraph} 1, requests_per_minute: 2000`,
        'api_key_env: L, source: nerdgraph, account_id: 2, requests_per_minute: 2000',
      ]),
    },
    {
      what: 'a delay of the default window, which counts with NerdGraph',
      text: accounts([`${nerdgraph} 1`], 'poll: { window: default, delay: 5m }'),
    },
    {
      what: 'more queries in another region',
      text: accounts([
        `${nerdgraph} 1, requests_per_minute: 2000`,
        `${nerdgraph} 1, requests_per_minute: 2000, region: eu`,
      ]),
    },
    {
      what: 'unrounded values for an app with REST',
      text: accounts([`${nerdgraph} 1`, rest]).replace('account: a1', 'account: a1, raw: true'),
    },
    {
      what: 'unrounded values of which some are of REST',
      text: accounts([`${nerdgraph} 1`, rest], 'poll: { raw: true }'),
    },
    {
      what: 'values that an app wants rounded',
      text: accounts([`${nerdgraph} 1`]).replace('{ id: 1,', '{ id: 1, raw: false,'),
    },
  ])('does not warn of $what', async ({ text }) => {
    expect(await warningsOf(text)).toStrictEqual([]);
  });
});
