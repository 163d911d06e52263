import { keyIdOf, type PlainConfig } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { type Located, locate } from './located.ts';
import type { FileConfig } from './schema.ts';
import { isPlainHttpOffLoopback } from './url.ts';

/** The vendor's limit for one key. */
const vendorRequestsPerMinute = 1000;
/** The vendor's data has a resolution of one minute. */
const vendorResolutionMs = 60_000;

type At = (...path: readonly PropertyKey[]) => Located | undefined;

function accountWarnings(config: PlainConfig, at: At): readonly Problem[] {
  const used = new Set(config.apps.map(({ account }) => account));
  return config.accounts.flatMap((account, index) => {
    const problems: Problem[] = [];
    if (account.requestsPerMinute > vendorRequestsPerMinute) {
      const message = `"requests_per_minute" is above ${vendorRequestsPerMinute}, New Relic's quota for one key`;
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
    const keyId = keyIdOf(account);
    const first = firstNames.get(keyId);
    if (first === undefined) {
      firstNames.set(keyId, account.name);
      return [];
    }
    const key = account.apiKey.kind === 'file' ? 'api_key_file' : 'api_key_env';
    const message = `the accounts "${first}" and "${account.name}" have the same API key: they share the smallest of their budgets`;
    const help = 'give each account its own key, or put all entries into one account';
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
    ...intervalWarnings(file, at),
    ...repeatedSelectors(config, at),
  ];
}
