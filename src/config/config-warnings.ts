import { type AccountConfig, budgetIdOf, type PlainConfig } from '../model/config.ts';
import { seriesOf } from '../model/polled-series.ts';
import { regionAddresses, regionOf } from '../model/region.ts';
import { selectorText } from '../model/selector.ts';
import { minuteMs } from '../model/time.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { formatDuration } from './duration.ts';
import { unitText, wrongEndingOf } from './gauge-unit.ts';
import { metricChoiceOf } from './metric-schema.ts';
import { readNrql } from './nrql-text.ts';
import type { FileConfig } from './schema.ts';
import { isPlainHttpOffLoopback } from './url.ts';
import {
  type At,
  createAt,
  type FileMap,
  locate,
  mapsUnder,
  partSpan,
  textsOf,
  valueOf,
} from './yaml-node.ts';

/** New Relic's limits: of calls with one key, and of queries of one account. */
const quotas: Readonly<Record<AccountConfig['source']['kind'], readonly [number, string]>> = {
  rest: [1000, "New Relic's quota for one key"],
  nerdgraph: [3000, "New Relic's quota of NRQL queries for one account"],
};

const pathOfApi = /\/(?:v2|graphql)(?:\/|$)/u;
const service = /^(?:.*\.)?(?:newrelic\.com|nr-data\.net)$/u;
const addresses = Object.values(regionAddresses);
const ownHosts = new Set(addresses.map((address) => new URL(address).hostname));

type Rule = readonly [isOdd: boolean, key: string, message: string, help?: string];

function accountWarnings({ accounts }: PlainConfig, at: At): readonly Problem[] {
  return accounts.flatMap(({ baseUrl, source, requestsPerMinute, proxyUrl }, index) => {
    const [perMinute, what] = quotas[source.kind];
    const { hostname, pathname } = new URL(baseUrl);
    const isOther = service.test(hostname) && !ownHosts.has(hostname);
    const region = at('accounts', index, 'base_url') && regionOf(baseUrl);
    const added = 'has a path of the API, to which the exporter adds its own';
    const other = `is not New Relic's API, which is at ${addresses.join(', ')}`;
    const login = 'holds a login, which everybody sees who may read this file';
    const open = 'is plain http: the API key crosses the network unencrypted';
    const rules: readonly Rule[] = [
      [requestsPerMinute > perMinute, 'requests_per_minute', `is above ${perMinute}, ${what}`],
      [isPlainHttpOffLoopback(baseUrl), 'base_url', open, 'use https'],
      [pathOfApi.test(pathname), 'base_url', added, 'leave out the path'],
      [isOther, 'base_url', other, 'write "region" instead'],
      [region !== undefined, 'base_url', "is New Relic's own address", `write region: ${region}`],
      [/@/u.test(proxyUrl ?? ''), 'proxy_url', login, 'use "proxy_url_file" or "proxy_url_env"'],
    ];
    return rules.flatMap(([isOdd, key, message, help]) =>
      isOdd ? [warningAt(at('accounts', index, key)?.span, `"${key}" ${message}`, help)] : [],
    );
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

/** `poll`, the entries and the queries, as the file has them, with the path of each. */
function everyPoll({ poll, apps, queries }: FileConfig) {
  return [
    { poll, path: ['poll'] },
    ...apps.map((app, index) => ({ poll: app, path: ['apps', index] })),
    ...queries.map((query, index) => ({ poll: query, path: ['queries', index] })),
  ];
}

const shortTimes = [
  ['interval', "is under 60s: New Relic's data has a resolution of one minute"],
  ['delay', "is under 60s: New Relic's newest minutes are incomplete, so values are too low"],
] as const;

function shortTimesOf(file: FileConfig, at: At): readonly Problem[] {
  return everyPoll(file).flatMap(({ poll, path }) =>
    shortTimes.flatMap(([key, what]) =>
      (poll[key] ?? minuteMs) < minuteMs
        ? [warningAt(at(...path, key)?.span, `"${key}" ${what}`)]
        : [],
    ),
  );
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

/** What a name may have, and a star: a regular expression for any text would have a dot before it. */
const glob = /^\^?[\w /:-]+\*[\w /:*-]*$/u;
/** With a sign of regular expressions, or flags behind it: there may be names with slashes. */
const inSlashes = /^\/(?=.*[$^*+?|()[\]\\]|.*\/(?:i|g|gi|ig)$)(.+)\/(i|g|gi|ig)?$/u;
const helpOfStar: ReadonlyMap<string, string> = new Map([
  ['name', 'write "match" and a regular expression'],
  ['metric', 'newrelic-exporter metrics APP -o yaml has a line for each'],
]);

/** Why a text is probably read otherwise than it is meant, and what to write. */
function misreading(key: string, text: string): readonly [why: string, help: string] | undefined {
  const help = helpOfStar.get(key);
  if (help !== undefined && text.includes('*'))
    return ['has a star, which stands for itself', help];
  if (key !== 'match' && key !== 'exclude') return undefined;
  if (glob.test(text)) {
    const why = 'has a star, which repeats the character before it or leaves it out';
    return [why, `for any text write ".*": ${JSON.stringify(text.replaceAll('*', '.*'))}`];
  }
  const [, pattern, flags = ''] = inSlashes.exec(text) ?? [];
  if (pattern === undefined) return undefined;
  const why = 'stands between slashes, which are looked for in the name';
  return [why, `write ${JSON.stringify(`${flags.includes('i') ? '(?i)' : ''}${pattern}`)}`];
}

/** Names that are meant as patterns, and patterns as other programs write them. */
function misreadings(root: FileMap): readonly Problem[] {
  return [valueOf(root, 'poll'), ...mapsUnder(root, 'apps')].flatMap((map) =>
    textsOf(map).flatMap(({ key, text, span }) => {
      const [why, help] = misreading(key, text) ?? [];
      return why === undefined ? [] : [warningAt(span, `"${key}" ${why}`, help)];
    }),
  );
}

/** Delays of New Relic's own window, which only NerdGraph lacks. */
function uselessDelays({ accounts, apps, queries }: PlainConfig, at: At): readonly Problem[] {
  const ofRest = new Set(
    accounts.flatMap(({ name, source: { kind } }) => (kind === 'rest' ? name : [])),
  );
  const useless = apps.map(
    ({ account, poll: { window } }) => window.kind === 'vendor_default' && ofRest.has(account),
  );
  const usual = queries === undefined && !useless.includes(false) ? at('poll', 'delay') : undefined;
  const message = '"delay" has no effect with "window: default": the REST API chooses both ends';
  const help = 'remove it, or write how long the window is, such as window: 30m';
  return useless.flatMap((isUseless, index) => {
    const delay = at('apps', index, 'delay') ?? usual;
    return delay === undefined || !isUseless ? [] : [warningAt(delay.span, message, help)];
  });
}

function unusedAccounts({ accounts, apps, queries = [] }: PlainConfig, at: At): readonly Problem[] {
  const used = new Set([...apps, ...queries].map(({ account }) => account));
  return accounts.flatMap(({ name }, index) => {
    const message = `no entry of "apps" or "queries" is of the account "${name}": it is not polled`;
    const help = 'add an entry, or remove the account';
    const span = at('accounts', index, 'name')?.span;
    return used.has(name) ? [] : [warningAt(span, message, help)];
  });
}

/** Names of gauges that state another unit than the values have. */
function wrongEndings(file: FileConfig, at: At): readonly Problem[] {
  return everyPoll(file).flatMap(({ poll: { metrics = [] }, path }) =>
    metrics.flatMap((metric, index) => {
      const [series] = typeof metric === 'string' ? [] : seriesOf([metricChoiceOf(metric)], []);
      const wrong = series === undefined ? undefined : wrongEndingOf(series);
      if (series === undefined || wrong === undefined) return [];
      const [ending, remedies] = wrong;
      const help = remedies.length === 0 ? undefined : `write ${remedies.join(' or ')}`;
      const message = `"as" ends in "${ending}", but the values are ${unitText(series)}`;
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
  return apps.flatMap(({ account, selector, exclude }, index) => {
    const text = selectorText(selector);
    const key = JSON.stringify([account, text]);
    const catchAll = catchAlls.get(account);
    const ofCatchAll =
      catchAll === undefined ? undefined : `the earlier entry ${catchAll} every application`;
    const reason = seen.has(key) ? `an earlier entry already has the selector ${text}` : ofCatchAll;
    seen.add(key);
    if (reason === undefined) {
      const isCatchAll = selector.kind === 'match' && everything.has(selector.pattern.source);
      const does = exclude ? 'excludes' : 'already selects';
      if (isCatchAll) catchAlls.set(account, `${text} ${does}`);
      return [];
    }
    const help = 'remove it, or put it before that one';
    const span = at('apps', index, selector.kind)?.span;
    return [warningAt(span, `${reason}: this one has no effect`, help)];
  });
}

const onlyCases = /^cases *\((?!.*\) *OR\b)/iu;

/** Queries that give the ten biggest rows, which are others from time to time. Cases are few. */
function facetsWithoutLimit(
  text: string,
  root: FileMap,
  { queries }: FileConfig,
): readonly Problem[] {
  return queries.flatMap(({ meaning: { written } }, index) => {
    const { clauses } = readNrql(written);
    const facet = clauses.get('FACET')?.find(({ expression }) => !onlyCases.test(expression));
    const node = locate(root, ['queries', index, 'nrql']);
    if (facet === undefined || node === undefined || clauses.has('LIMIT')) return [];
    const message =
      '"nrql" has FACET without LIMIT: New Relic gives the ten biggest rows, and which ten changes';
    const help = 'write LIMIT and a number behind it, such as LIMIT 100, or LIMIT MAX';
    return [warningAt(partSpan(text, node, facet), message, help)];
  });
}

/** What is allowed but probably not meant, in a file without errors. */
export function configWarnings(
  text: string,
  root: FileMap,
  file: FileConfig,
  config: PlainConfig,
): readonly Problem[] {
  const at = createAt(root);
  return [
    ...accountWarnings(config, at),
    ...sharedKeys(config, at),
    ...shortTimesOf(file, at),
    ...misreadings(root),
    ...uselessDelays(config, at),
    ...unusedAccounts(config, at),
    ...uselessStaleAfter(config, at),
    ...wrongEndings(file, at),
    ...shadowedEntries(config, at),
    ...facetsWithoutLimit(text, root, file),
  ];
}
