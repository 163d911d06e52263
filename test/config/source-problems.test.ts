import { describe, expect, it } from 'vitest';
import { failureOf, headlinesOf } from './config-failure.ts';

/** A file with one account, in rows. */
function account(...rows: readonly string[]): string {
  const lines = [
    'accounts:',
    '  - name: a',
    '    api_key_env: KEY',
    ...rows.map((row) => `    ${row}`),
  ];
  return [...lines, 'apps: [{id: 1}]'].join('\n');
}

describe('parseConfig, for an account with NerdGraph', () => {
  it('says where the account id is found if it is missing', async () => {
    expect(await failureOf(account('source: nerdgraph'))).toBe(
      [
        'config.yaml:4:13: "source: nerdgraph" needs "account_id", the id of the New Relic account',
        '  4 |     source: nerdgraph',
        '    |             ^^^^^^^^^',
        '    = help: run newrelic-exporter check-config --online, which proposes it, or look it up in New Relic: user menu, API keys',
      ].join('\n'),
    );
  });

  it('says why there is a most for concurrency', async () => {
    expect(await failureOf(account('source: nerdgraph', 'account_id: 1', 'concurrency: 26'))).toBe(
      [
        'config.yaml:6:18: "concurrency" must be at most 25 with "source: nerdgraph": NerdGraph refuses more than 25 requests in flight per user',
        '  6 |     concurrency: 26',
        '    |                  ^^',
        '    = help: New Relic advises 5, the default',
      ].join('\n'),
    );
  });

  it.each([
    {
      what: 'a misspelt key for the account id',
      rows: ['source: nerdgraph', 'acount_id: 1'],
      headlines: ['5:5: unknown key "acount_id"'],
    },
    {
      what: 'an account id without a value',
      rows: ['source: nerdgraph', 'account_id:'],
      headlines: ['5:5: "account_id" must be a whole number of at least 1, such as 1234567'],
    },
    {
      what: 'a concurrency that no source may have',
      rows: ['source: nerdgraph', 'account_id: 1', 'concurrency: x'],
      headlines: ['6:18: "concurrency" must be a whole number from 1 to 100, not "x"'],
    },
    {
      what: 'everything that is wrong',
      rows: ['source: nerdgraph', 'concurrency: 26', 'retries: 1'],
      headlines: [
        '4:13: "source: nerdgraph" needs "account_id", the id of the New Relic account',
        '5:18: "concurrency" must be at most 25 with "source: nerdgraph": NerdGraph refuses more than 25 requests in flight per user',
        '6:5: unknown key "retries"',
      ],
    },
  ])('reports $what once', async ({ rows, headlines }) => {
    expect(await headlinesOf(account(...rows))).toStrictEqual(
      headlines.map((headline) => `config.yaml:${headline}`),
    );
  });

  it.each([
    {
      row: 'source: graphql',
      headline: '4:13: "source" must be rest or nerdgraph, not "graphql"',
    },
    ...['0', '-1', '1.5', 'Production', '"007"', '""', 'true', '[1]', '1e17'].map((id) => ({
      row: `account_id: ${id}`,
      headline: '4:17: "account_id" must be a whole number of at least 1, such as 1234567',
    })),
    ...['2147483648', '"2147483648"', '99999999999999999999'].map((id) => ({
      row: `account_id: ${id}`,
      headline: '4:17: "account_id" must be at most 2147483647',
    })),
    {
      row: 'account_id: 0x10',
      headline: '4:17: "account_id" must be written in decimal digits only',
    },
  ])('refuses $row', async ({ row, headline }) => {
    expect(await headlinesOf(account(row))).toStrictEqual([`config.yaml:${headline}`]);
  });
});
