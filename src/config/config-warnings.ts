import { type AccountConfig, budgetIdOf, type PlainConfig } from '../model/config.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { type At, type Located, locate } from './located.ts';
import { metricWarnings } from './metric-warnings.ts';
import { pollWarnings } from './poll-warnings.ts';
import type { FileConfig } from './schema.ts';
import { shadowedEntries } from './shadowed-entries.ts';
import { nerdgraphQuota, nerdgraphWarnings } from './source-warnings.ts';
import { textWarnings } from './text-warnings.ts';
import { isPlainHttpOffLoopback } from './url.ts';

interface Quota {
  readonly perMinute: number;
  readonly what: string;
}

/** The vendor's limits: of calls with one key, and of queries of one account. */
const quotas: Readonly<Record<AccountConfig['source']['kind'], Quota>> = {
  rest: { perMinute: 1000, what: "New Relic's quota for one key" },
  nerdgraph: {
    perMinute: nerdgraphQuota,
    what: "New Relic's quota of NRQL queries for one account",
  },
};

function accountWarnings(config: PlainConfig, at: At): readonly Problem[] {
  const used = new Set(config.apps.map(({ account }) => account));
  return config.accounts.flatMap((account, index) => {
    const problems: Problem[] = [];
    const quota = quotas[account.source.kind];
    if (account.requestsPerMinute > quota.perMinute) {
      const message = `"requests_per_minute" is above ${quota.perMinute}, ${quota.what}`;
      problems.push(warningAt(at('accounts', index, 'requests_per_minute')?.span, message));
    }
    if (isPlainHttpOffLoopback(account.baseUrl)) {
      const message = '"base_url" is plain http: the API key crosses the network unencrypted';
      problems.push(warningAt(at('accounts', index, 'base_url')?.span, message, 'use https'));
    }
    if (!used.has(account.name)) {
      const message = `no entry of apps uses the account "${account.name}"`;
      problems.push(warningAt(at('accounts', index, 'name')?.span, message));
    }
    return problems;
  });
}

function sharedKeyWarnings(config: PlainConfig, at: At): readonly Problem[] {
  const firstNames = new Map<string, string>();
  return config.accounts.flatMap((account, index) => {
    const budgetId = budgetIdOf(account);
    const first = firstNames.get(budgetId);
    if (first === undefined) {
      firstNames.set(budgetId, account.name);
      return [];
    }
    const isRest = account.source.kind === 'rest';
    const key = account.apiKey.kind === 'file' ? 'api_key_file' : 'api_key_env';
    const same = isRest ? 'the same API key' : 'the same API key and the same account_id';
    const message = `the accounts "${first}" and "${account.name}" have ${same}: they share the smallest of their budgets`;
    const help = isRest
      ? 'give each account its own key, or put all entries into one account'
      : 'put all entries into one account';
    return [warningAt(at('accounts', index, key)?.span, message, help)];
  });
}

/** What is allowed but probably not meant, in a file without errors. */
export async function configWarnings(
  root: Located,
  file: FileConfig,
  config: PlainConfig,
): Promise<readonly Problem[]> {
  const at: At = (...path) => locate(root, path);
  return [
    ...accountWarnings(config, at),
    ...sharedKeyWarnings(config, at),
    ...nerdgraphWarnings(file, config, at),
    ...pollWarnings(file, config, at),
    ...metricWarnings(file, config, at),
    ...textWarnings(root),
    ...(await shadowedEntries(config, at)),
  ];
}
