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
  it('names ten of many accounts, and points to the name of the last without a concurrency', async () => {
    const [warning = ''] = await warningsOf(
      accounts(Array.from({ length: 12 }, (_, index) => `${nerdgraph} ${index + 1}`)),
    );

    expect(warning).toMatch(
      /^config.yaml:13:13: warning: the accounts "a0", .*, "a9" and 2 more have .* concurrency of 60: /u,
    );
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
