import { type AccountConfig, budgetIdOf, type PlainConfig } from '../model/config.ts';
import { seriesOf } from '../model/polled-series.ts';
import { selectorText } from '../model/selector.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { formatDuration } from './duration.ts';
import { unitText, wrongEndingOf } from './gauge-unit.ts';
import { metricChoiceOf } from './metric-schema.ts';
import { officialAddresses } from './official-address.ts';
import type { FileConfig, FilePoll } from './schema.ts';
import { isPlainHttpOffLoopback } from './url.ts';
import { type At, createAt, type FileMap } from './yaml-node.ts';

const minuteMs = 60_000;

interface Quota {
  readonly perMinute: number;
  readonly what: string;
}

/** New Relic's limits: of calls with one key, and of queries of one account. */
const quotas: Readonly<Record<AccountConfig['source']['kind'], Quota>> = {
  rest: { perMinute: 1000, what: "New Relic's quota for one key" },
  nerdgraph: { perMinute: 3000, what: "New Relic's quota of NRQL queries for one account" },
};

/** What is odd about the address of an account, each with what to do about it. */
function addressDoubts({ baseUrl }: AccountConfig): readonly (readonly [string, string])[] {
  const { hostname, pathname } = new URL(baseUrl);
  const isOther = /(?:^|\.)(?:newrelic\.com|nr-data\.net)$/u.test(hostname);
  const known = new Set<string>(
    Object.values(officialAddresses).map((url) => new URL(url).hostname),
  );
  return [
    ...(isPlainHttpOffLoopback(baseUrl)
      ? [
          [
            '"base_url" is plain http: the API key crosses the network unencrypted',
            'use https',
          ] as const,
        ]
      : []),
    ...(/\/(?:v2|graphql)(?:\/|$)/u.test(pathname)
      ? [
          [
            '"base_url" has a path of the API, to which the exporter adds its own',
            'leave out the path',
          ] as const,
        ]
      : []),
    ...(isOther && !known.has(hostname)
      ? [
          [
            `"base_url" is not New Relic's API, which is at ${[...known].join(' and ')}`,
            'write "region" instead',
          ] as const,
        ]
      : []),
  ];
}

function accountWarnings({ accounts }: PlainConfig, at: At): readonly Problem[] {
  return accounts.flatMap((account, index) => {
    const problems: Problem[] = [];
    const quota = quotas[account.source.kind];
    if (account.requestsPerMinute > quota.perMinute) {
      const message = `"requests_per_minute" is above ${quota.perMinute}, ${quota.what}`;
      problems.push(warningAt(at('accounts', index, 'requests_per_minute')?.span, message));
    }
    for (const [message, help] of addressDoubts(account)) {
      problems.push(warningAt(at('accounts', index, 'base_url')?.span, message, help));
    }
    return problems;
  });
}

function sharedKeys({ accounts }: PlainConfig, at: At): readonly Problem[] {
  const firstNames = new Map<string, string>();
  return accounts.flatMap((account, index) => {
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
    const ownKey = isRest ? 'give each account its own key, or ' : '';
    const help = `${ownKey}put all entries into one account`;
    return [warningAt(at('accounts', index, key)?.span, message, help)];
  });
}

/** Both `poll` and the entries, as the file has them, with the path of each. */
function everyPoll({ poll, apps }: FileConfig): readonly {
  readonly poll: Partial<FilePoll>;
  readonly path: readonly PropertyKey[];
}[] {
  return [
    { poll, path: ['poll'] },
    ...apps.map((app, index) => ({ poll: app, path: ['apps', index] })),
  ];
}

function shortIntervals(file: FileConfig, at: At): readonly Problem[] {
  const message = '"interval" is under 60s: New Relic\'s data has a resolution of one minute';
  return everyPoll(file)
    .filter(({ poll: { interval = minuteMs } }) => interval < minuteMs)
    .map(({ path }) => warningAt(at(...path, 'interval')?.span, message));
}

/** Values that fail to be polled once would be dropped before the next poll can succeed. */
function uselessStaleAfter({ apps }: PlainConfig, at: At): readonly Problem[] {
  return apps.flatMap(({ poll: { intervalMs, staleAfterMs } }, index) => {
    if (staleAfterMs > intervalMs) return [];
    const place = at('apps', index, 'stale_after') ?? at('apps', index, 'interval');
    const message =
      `"stale_after" (${formatDuration(staleAfterMs)}) is not longer than "interval" ` +
      `(${formatDuration(intervalMs)}): after one failed poll, values are dropped before the next`;
    const span = (place ?? at('poll', 'stale_after') ?? at('poll', 'interval'))?.span;
    return [warningAt(span, message, `write at least ${formatDuration(2 * intervalMs)}`)];
  });
}

function shortDelays(file: FileConfig, at: At): readonly Problem[] {
  const message =
    '"delay" is under 1m: New Relic\'s newest minutes are incomplete, so values are too low';
  return everyPoll(file)
    .filter(({ poll: { delay = minuteMs } }) => delay < minuteMs)
    .map(({ path }) => warningAt(at(...path, 'delay')?.span, message, 'the default is 3m'));
}

/** Names that are meant as patterns. */
function stars(file: FileConfig, at: At): readonly Problem[] {
  const named = file.apps.map(({ name }, index) => ({ name, path: ['apps', index, 'name'] }));
  const metrics = everyPoll(file).flatMap(({ poll, path }) =>
    (poll.metrics ?? []).map((metric, index) => ({
      name: typeof metric === 'string' ? undefined : metric.metric,
      path: [...path, 'metrics', index, 'metric'],
    })),
  );
  const warningOf = (name: string | undefined, path: readonly PropertyKey[], help: string) =>
    name?.includes('*') === true
      ? [
          warningAt(
            at(...path)?.span,
            `"${String(path.at(-1))}" has a star, which stands for itself`,
            help,
          ),
        ]
      : [];
  return [
    ...named.flatMap(({ name, path }) =>
      warningOf(name, path, 'write "match" and a regular expression'),
    ),
    ...metrics.flatMap(({ name, path }) =>
      warningOf(name, path, 'newrelic-exporter metrics APP -o yaml has a line for each'),
    ),
  ];
}

/** Names of gauges that state another unit than the values have. */
function wrongEndings(file: FileConfig, at: At): readonly Problem[] {
  return everyPoll(file).flatMap(({ poll: { metrics = [] }, path }) =>
    metrics.flatMap((metric, index) => {
      const [series] = typeof metric === 'string' ? [] : seriesOf([metricChoiceOf(metric)], []);
      const wrong = series === undefined ? undefined : wrongEndingOf(series);
      if (series === undefined || wrong === undefined) return [];
      const { ending, rightName, rightScale } = wrong;
      const message = `"as" ends in "${ending}", but the values are ${unitText(series)}`;
      const remedies = [
        ...(rightName === undefined ? [] : [`"as: ${rightName}"`]),
        ...(rightScale === undefined ? [] : [`"scale: ${rightScale}"`]),
      ];
      const help = remedies.length === 0 ? undefined : `write ${remedies.join(' or ')}`;
      return [warningAt(at(...path, 'metrics', index, 'as')?.span, message, help)];
    }),
  );
}

/** Patterns that match every name. */
const everything: ReadonlySet<string> = new Set(
  ['', '.', '.*', '.+', '(?s).*', '(?s:.*)'].flatMap((body) => [body, `^${body}`, `^${body}$`]),
);

/**
 * Entries of which the file alone tells that they have no effect. Which applications other patterns
 * take, `check-config --online` tells.
 */
function shadowedEntries({ apps }: PlainConfig, at: At): readonly Problem[] {
  const seen = new Set<string>();
  const catchAlls = new Map<string, string>();
  return apps.flatMap(({ account, selector }, index) => {
    const text = selectorText(selector);
    const key = JSON.stringify([account, text]);
    const catchAll = catchAlls.get(account);
    const ofCatchAll =
      catchAll === undefined
        ? undefined
        : `the earlier entry ${catchAll} already selects every application`;
    const reason = seen.has(key) ? `an earlier entry already has the selector ${text}` : ofCatchAll;
    seen.add(key);
    if (reason === undefined) {
      const isCatchAll = selector.kind === 'match' && everything.has(selector.pattern.source);
      if (isCatchAll) catchAlls.set(account, text);
      return [];
    }
    const help = 'remove it, or put it before that one';
    const span = at('apps', index, selector.kind)?.span;
    return [warningAt(span, `${reason}: this one has no effect`, help)];
  });
}

/** What is allowed but probably not meant, in a file without errors. */
export function configWarnings(
  root: FileMap,
  file: FileConfig,
  config: PlainConfig,
): readonly Problem[] {
  const at = createAt(root);
  return [
    ...accountWarnings(config, at),
    ...sharedKeys(config, at),
    ...shortIntervals(file, at),
    ...shortDelays(file, at),
    ...stars(file, at),
    ...uselessStaleAfter(config, at),
    ...wrongEndings(file, at),
    ...shadowedEntries(config, at),
  ];
}
