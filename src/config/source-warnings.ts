import { type AccountConfig, keyIdOf, type PlainConfig, quotaOf } from '../model/config.ts';
import { nerdgraphConcurrency } from './account-schema.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import type { At, Span } from './located.ts';
import type { FileConfig } from './schema.ts';

/** NRQL queries that the vendor allows for one account in a minute. */
export const nerdgraphQuota = 3000;

/** Nobody would read a message that names more. */
const mostNamed = 10;

function namesOf(accounts: readonly AccountConfig[]): string {
  const named = accounts.slice(0, mostNamed).map(({ name }) => `"${name}"`);
  const more = accounts.length - named.length;
  return more === 0
    ? `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
    : `${named.join(', ')} and ${more} more`;
}

/** The accounts with NerdGraph, those with the same id together. */
function groupsBy(
  { accounts }: PlainConfig,
  idOf: (account: AccountConfig) => string,
): readonly (readonly AccountConfig[])[] {
  const groups = new Map<string, AccountConfig[]>();
  for (const account of accounts) {
    if (account.source.kind !== 'nerdgraph') continue;
    const id = idOf(account);
    const known = groups.get(id);
    if (known === undefined) groups.set(id, [account]);
    else known.push(account);
  }
  return [...groups.values()];
}

/** The place of a setting of the last account, or of its name if the setting is not written. */
function lastOf(
  group: readonly AccountConfig[],
  setting: string,
  { accounts }: PlainConfig,
  at: At,
): Span | undefined {
  const index = accounts.findLastIndex(({ name }) => name === group.at(-1)?.name);
  return (at('accounts', index, setting) ?? at('accounts', index, 'name'))?.span;
}

/** The vendor counts the requests in flight of a user; accounts with one key are of one user. */
function concurrencyWarnings(config: PlainConfig, at: At): readonly Problem[] {
  return groupsBy(config, keyIdOf).flatMap((group) => {
    const sum = group.reduce((total, { concurrency }) => total + concurrency, 0);
    if (sum <= nerdgraphConcurrency) return [];
    const message =
      `the accounts ${namesOf(group)} have the same API key and together a concurrency of ${sum}: ` +
      `NerdGraph refuses more than ${nerdgraphConcurrency} requests in flight per user`;
    const help = `lower "concurrency" to ${nerdgraphConcurrency} in all`;
    return [warningAt(lastOf(group, 'concurrency', config, at), message, help)];
  });
}

function placeOf(account: AccountConfig): string {
  return `${account.baseUrl} ${quotaOf(account)}`;
}

/** The vendor counts the queries of an account, whatever keys they are sent with. */
function quotaWarnings(config: PlainConfig, at: At): readonly Problem[] {
  return groupsBy(config, placeOf).flatMap((group) => {
    // Accounts with one key share the smallest of their budgets.
    const budgets = new Map<string, number>();
    for (const account of group) {
      const known = budgets.get(keyIdOf(account)) ?? Number.POSITIVE_INFINITY;
      budgets.set(keyIdOf(account), Math.min(known, account.requestsPerMinute));
    }
    const sum = [...budgets.values()].reduce((total, budget) => total + budget, 0);
    if (budgets.size < 2 || sum <= nerdgraphQuota) return [];
    const message =
      `the accounts ${namesOf(group)} have the same account_id and together a budget of ${sum} ` +
      `requests_per_minute: New Relic's quota of NRQL queries for one account is ${nerdgraphQuota}`;
    const help = `lower "requests_per_minute" to ${nerdgraphQuota} in all`;
    return [warningAt(lastOf(group, 'requests_per_minute', config, at), message, help)];
  });
}

function rawWarnings(file: FileConfig, config: PlainConfig, at: At): readonly Problem[] {
  const unrounded = new Set(
    config.accounts.filter(({ source }) => source.kind === 'nerdgraph').map(({ name }) => name),
  );
  const help = 'leave it out';
  const inPoll =
    file.poll.raw && config.apps.every(({ account }) => unrounded.has(account))
      ? [
          warningAt(
            at('poll', 'raw')?.span,
            '"raw" has no effect: NerdGraph never rounds values, and no entry of apps has another source',
            help,
          ),
        ]
      : [];
  const inApps = config.apps.flatMap(({ account }, index) => {
    if (file.apps[index]?.raw !== true || !unrounded.has(account)) return [];
    const message = `"raw" has no effect: the account "${account}" has "source: nerdgraph", which never rounds values`;
    return [warningAt(at('apps', index, 'raw')?.span, message, help)];
  });
  return [...inPoll, ...inApps];
}

/** What is probably not meant about accounts with `source: nerdgraph`. */
export function nerdgraphWarnings(
  file: FileConfig,
  config: PlainConfig,
  at: At,
): readonly Problem[] {
  return [
    ...concurrencyWarnings(config, at),
    ...quotaWarnings(config, at),
    ...rawWarnings(file, config, at),
  ];
}
