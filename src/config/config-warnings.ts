import { type AccountConfig, budgetIdOf, type PlainConfig } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { type At, type Located, locate } from './located.ts';
import type { FileConfig } from './schema.ts';
import { nerdgraphQuota, nerdgraphWarnings } from './source-warnings.ts';
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
/** The vendor's data has a resolution of one minute. */
const vendorResolutionMs = 60_000;

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
      const message = `no app uses the account "${account.name}"`;
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

function intervalWarnings(file: FileConfig, at: At): readonly Problem[] {
  const written = [
    { intervalMs: file.poll.interval, span: at('poll', 'interval')?.span },
    ...file.apps.map((app, index) => ({
      intervalMs: app.interval,
      span: at('apps', index, 'interval')?.span,
    })),
  ];
  const message = '"interval" is under 60s: New Relic\'s data has a resolution of one minute';
  return written
    .filter(({ intervalMs }) => intervalMs !== undefined && intervalMs < vendorResolutionMs)
    .map(({ span }) => warningAt(span, message));
}

function repeatedSelectors(config: PlainConfig, at: At): readonly Problem[] {
  const seen = new Set<string>();
  return config.apps.flatMap((app, index) => {
    const selector = selectorText(app.selector);
    const identity = JSON.stringify([app.account, selector]);
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    const message = `an earlier entry already has the selector ${selector}: this one has no effect`;
    return [warningAt(at('apps', index, app.selector.kind)?.span, message)];
  });
}

/** What is allowed but probably not meant, in a file without errors. */
export function configWarnings(
  root: Located,
  file: FileConfig,
  config: PlainConfig,
): readonly Problem[] {
  const at: At = (...path) => locate(root, path);
  return [
    ...accountWarnings(config, at),
    ...sharedKeyWarnings(config, at),
    ...nerdgraphWarnings(file, config, at),
    ...intervalWarnings(file, at),
    ...repeatedSelectors(config, at),
  ];
}
