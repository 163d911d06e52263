import { describe, expect, it } from 'vitest';
import { renderDiagnostic } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

async function warningsOf(text: string): Promise<readonly string[]> {
  const { warnings } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });
  return warnings.map(renderDiagnostic);
}

function account(keys: string): string {
  return `accounts: [{name: a, api_key_env: A, ${keys}}]\napps: [{id: 1}]`;
}

/** A file with one account that is polled with NerdGraph. */
function nerdgraph(keys: string, apps = '{id: 1}'): string {
  return account(`source: nerdgraph, account_id: 1, ${keys}`).replace('{id: 1}', apps);
}

describe('parseConfig, with warnings', () => {
  it('shows a warning in full', async () => {
    expect(await warningsOf('poll:\n  interval: 30s\napps: [{id: 1}]')).toStrictEqual([
      [
        'config.yaml:2:13: warning: "interval" is under 60s: New Relic\'s data has a resolution of one minute',
        '  2 |   interval: 30s',
        '    |             ^^^',
      ].join('\n'),
    ]);
  });

  it.each([
    { text: account('requests_per_minute: 1000') },
    { text: 'poll: {window: default}\napps: [{id: 1}]' },
    { text: 'poll: {delay: 5m}\napps: [{id: 1, window: default}, {id: 2}]' },
    { text: 'poll: {window: default, delay: 5m}\napps: [{id: 1, window: 5m}]' },
    { text: 'poll: {window: 120s}\napps: [{id: 1}]' },
    { text: 'poll: {interval: 2m, stale_after: 121s}\napps: [{id: 1}]' },
    { text: 'poll: {interval: 30m}\napps: [{id: 1, interval: 1m}]' },
    { text: 'poll: {discovery_interval: 5m}\napps: [{id: 1, discovery_interval: 1m}, {id: 2}]' },
    { text: 'poll: {host_names: false}\napps: [{id: 1, hosts: false}, {id: 2}]' },
    { text: 'apps: [{name: "US$ rates"}, {name: $}, {match: "^shop$"}, {match: $}]' },
    { text: 'apps: [{match: "/api/v1"}, {match: "a/b/c"}]' },
    { text: 'apps: [{name: shop-1}, {match: ^shop}, {match: .}]' },
    { text: 'apps: [{match: "^shop-[0-9]$"}, {name: shop-11}, {id: 5}]' },
    {
      text: 'accounts: [{name: a, api_key_env: A}, {name: b, api_key_env: B}]\napps: [{match: ., account: a}, {id: 1, account: b}]',
    },
    { text: nerdgraph('requests_per_minute: 3000') },
    { text: account('base_url: "http://localhost:8080"') },
    { text: account('base_url: "http://127.0.0.2"') },
    { text: account('base_url: "http://[::1]:1"') },
    { text: account('base_url: "https://gateway"') },
    { text: 'poll: {interval: 1m}\napps: [{id: 1}]' },
    {
      text: 'accounts: [{name: a, api_key_env: A}, {name: b, api_key_env: B}]\napps: [{id: 1, account: a}, {id: 1, account: b}]',
    },
    {
      text: 'accounts: [{name: a, api_key_env: A}, {name: b, api_key_env: A, region: eu}]\napps: [{id: 1, account: a}, {id: 1, account: b}]',
    },
    {
      text: 'accounts: [{name: a, api_key_env: A}, {name: b, api_key_env: A, source: nerdgraph, account_id: 1}, {name: c, api_key_env: A, source: nerdgraph, account_id: 2}]\napps: [{id: 1, account: a}, {id: 1, account: b}, {id: 1, account: c}]',
    },
  ])('does not warn of $text', async ({ text }) => {
    expect(await warningsOf(text)).toStrictEqual([]);
  });
});
