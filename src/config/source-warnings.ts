import { type AccountConfig, keyIdOf, type PlainConfig } from '../model/config.ts';
import { nerdgraphConcurrency } from './account-schema.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import type { At } from './located.ts';
import type { FileConfig } from './schema.ts';

/** Nobody would read a message that names more. */
const mostNamed = 10;

function namesOf(accounts: readonly AccountConfig[]): string {
  const named = accounts.slice(0, mostNamed).map(({ name }) => `"${name}"`);
  const more = accounts.length - named.length;
  return more === 0
    ? `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
    : `${named.join(', ')} and ${more} more`;
}

/** The vendor counts the requests in flight of a user; accounts with one key are of one user. */
function concurrencyWarnings({ accounts }: PlainConfig, at: At): readonly Problem[] {
  const byKey = new Map<string, AccountConfig[]>();
  for (const account of accounts) {
    if (account.source.kind !== 'nerdgraph') continue;
    const keyId = keyIdOf(account);
    const known = byKey.get(keyId);
    if (known === undefined) byKey.set(keyId, [account]);
    else known.push(account);
  }
  return [...byKey.values()].flatMap((group) => {
    const sum = group.reduce((total, { concurrency }) => total + concurrency, 0);
    const last = group.at(-1);
    if (last === undefined || sum <= nerdgraphConcurrency) return [];
    const index = accounts.indexOf(last);
    const span = (at('accounts', index, 'concurrency') ?? at('accounts', index, 'name'))?.span;
    const message =
      `the accounts ${namesOf(group)} have the same API key and together a concurrency of ${sum}: ` +
      `NerdGraph refuses more than ${nerdgraphConcurrency} requests in flight per user`;
    return [warningAt(span, message, `lower "concurrency" to ${nerdgraphConcurrency} in all`)];
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
            '"raw" has no effect: NerdGraph never rounds values, and no app has another source',
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
  return [...concurrencyWarnings(config, at), ...rawWarnings(file, config, at)];
}
