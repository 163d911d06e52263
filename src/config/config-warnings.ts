import { type AccountConfig, budgetIdOf, type Config } from '../model/config.ts';
import { mayBecomeOwn } from '../model/own-names.ts';
import { regionAddresses, regionOf } from '../model/region.ts';
import { polledBy, selectorText } from '../model/selector.ts';
import { minuteMs } from '../model/time.ts';
import { vendorValues } from '../model/vendor-value.ts';
import { wholeMinutes, windowLength } from '../model/window.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { wrongEnding } from './metric-rules.ts';
import { misreadings } from './misread-texts.ts';
import { readNrql } from './nrql-text.ts';
import type { FileConfig } from './schema.ts';
import { isPlainHttpOffLoopback } from './url.ts';
import { type Found, type Path, type PlainMap, valueAt } from './yaml-document.ts';

/** New Relic's limits: of calls with one key, and of queries of one account. */
const quotas: Readonly<Record<AccountConfig['source']['kind'], readonly [number, string]>> = {
  rest: [1000, "New Relic's quota for one key"],
  nerdgraph: [3000, "New Relic's quota of NRQL queries for one account"],
};

const service = /^(?:.*\.)?(?:newrelic\.com|nr-data\.net)$/u;
const addresses = Object.values(regionAddresses);
const ownHosts = new Set(addresses.map((address) => new URL(address).hostname));

/** A file, or what is right of it: as it is written, its values, and what they amount to. */
export interface GoodFile {
  readonly written: PlainMap;
  readonly parsed: FileConfig;
  readonly config: Config;
}

type OddSetting = readonly [isOdd: boolean, key: string, message: string, help?: string];

function accountWarnings({ written, config }: GoodFile): readonly Found[] {
  return config.accounts.flatMap((account, index) => {
    const { baseUrl, source, requestsPerMinute, proxyUrl, timeoutMs } = account;
    const path = ['accounts', index];
    const longestMs = Math.max(0, ...intervalsAt(account, config));
    const isPatient =
      isWritten(written, [...path, 'timeout']) && longestMs > 0 && timeoutMs > longestMs;
    const outlives = `is longer than the intervals of the account (${formatDuration(longestMs)}): a call that hangs outlives its poll`;
    const [perMinute, what] = quotas[source.kind];
    const { hostname } = new URL(baseUrl);
    const isOther = service.test(hostname) && !ownHosts.has(hostname);
    const region = isWritten(written, [...path, 'base_url']) ? regionOf(baseUrl) : undefined;
    const other = `is not New Relic's API, which is at ${addresses.join(', ')}`;
    const login = 'holds a login, which everybody sees who may read this file';
    const open = 'is plain http: the API key crosses the network unencrypted';
    const rules: readonly OddSetting[] = [
      [requestsPerMinute > perMinute, 'requests_per_minute', `is above ${perMinute}, ${what}`],
      [isPlainHttpOffLoopback(baseUrl), 'base_url', open, 'use https'],
      [isOther, 'base_url', other, 'write "region" instead'],
      [region !== undefined, 'base_url', "is New Relic's own address", `write region: ${region}`],
      [isPatient, 'timeout', outlives, `write at most ${formatDuration(longestMs)}`],
      [/@/u.test(proxyUrl ?? ''), 'proxy_url', login, 'use "proxy_url_file" or "proxy_url_env"'],
    ];
    return rules
      .filter(([isOdd]) => isOdd)
      .map(([, key, message, help]): Found => [[...path, key], `"${key}" ${message}`, help]);
  });
}

/** How often what an account has is polled. */
function intervalsAt({ name }: AccountConfig, { apps, queries = [] }: Config): readonly number[] {
  return [...polledBy(apps), ...queries]
    .filter(({ account }) => account === name)
    .map(({ poll }) => poll.intervalMs);
}

function* sharedKeys({ config }: GoodFile): Iterable<Found> {
  const firstNames = new Map<string, string>();
  for (const [index, account] of config.accounts.entries()) {
    const budgetId = budgetIdOf(account);
    const first = firstNames.get(budgetId);
    if (first === undefined) {
      firstNames.set(budgetId, account.name);
      continue;
    }
    const isRest = account.source.kind === 'rest';
    const same = isRest ? 'the same API key' : 'the same API key and the same account_id';
    const message = `the accounts "${first}" and "${account.name}" have ${same}: they share the smallest of their budgets`;
    const ownKey = isRest ? 'give each account its own key, or ' : '';
    const path = ['accounts', index, `api_key_${account.apiKey.kind}`];
    yield [path, message, `${ownKey}put all entries into one account`];
  }
}

/** `poll`, the entries and the queries, as the file has them, with the path of each. */
function everyPoll({ parsed: { poll, apps, queries } }: GoodFile) {
  return [
    { poll, path: ['poll'] },
    ...apps.map((app, index) => ({ poll: app, path: ['apps', index] })),
    ...queries.map((query, index) => ({ poll: query, path: ['queries', index] })),
  ];
}

const shortTimes = [
  ['interval', "New Relic's data has a resolution of one minute"],
  ['delay', "New Relic's newest minutes are incomplete, so values are too low"],
] as const;

/** The first of several keys of `poll` that an entry has itself, or else that `poll` has. */
function givenPath(written: PlainMap, entry: Path, ...keys: readonly string[]): Path | undefined {
  const places = [entry, ['poll']].flatMap((path) => keys.map((key) => [...path, key]));
  return places.find((path) => isWritten(written, path));
}

function isWritten(written: PlainMap, path: Path): boolean {
  return valueAt(written, path) !== undefined;
}

/** A window that is so much longer than its interval is summed up again and again. */
const mostOverlap = 2000;
const anyLength = { minMs: 1, maxMs: Number.MAX_SAFE_INTEGER };

function* oddTimes(file: GoodFile): Iterable<Found> {
  for (const { poll, path } of everyPoll(file)) {
    const of = (key: string): Path => [...path, key];
    for (const [key, what] of shortTimes) {
      if ((poll[key] ?? minuteMs) < minuteMs) yield [of(key), `"${key}" is under 60s: ${what}`];
    }
    const lengthMs = parseDuration(valueAt(file.written, of('window')), anyLength) ?? 0;
    if (lengthMs % minuteMs > 0) {
      const whole = formatDuration(wholeMinutes(lengthMs));
      yield [of('window'), `"window" is rounded up to ${whole}`, `write window: ${whole}`];
    }
  }
}

/** Times that do not go together: of each entry, with the defaults of `poll`. */
function* clashingTimes(file: GoodFile): Iterable<Found> {
  const usual = file.parsed.poll;
  for (const { poll, path } of everyPoll(file)) {
    if (poll === usual || ('exclude' in poll && poll.exclude)) continue;
    const at = (...keys: readonly string[]): Path => givenPath(file.written, path, ...keys) ?? [];
    const intervalMs = poll.interval ?? usual.interval;
    const windowMs = windowLength(poll.window ?? usual.window);
    const staleAfterMs = poll.stale_after ?? usual.stale_after;
    const interval = `"interval" (${formatDuration(intervalMs)})`;
    const window = `"window" (${formatDuration(windowMs)})`;
    if (staleAfterMs <= intervalMs) {
      const staleAfter = `"stale_after" (${formatDuration(staleAfterMs)})`;
      const why = 'after one failed poll, values are dropped before the next';
      const help = `write at least ${formatDuration(2 * intervalMs)}`;
      const message = `${staleAfter} is not longer than ${interval}: ${why}`;
      yield [at('stale_after', 'interval'), message, help];
    }
    if (intervalMs > windowMs) {
      const message = `${interval} is longer than ${window}: the time between is never seen`;
      yield [at('interval', 'window'), message, `write window: ${formatDuration(intervalMs)}`];
    }
    if (windowMs > mostOverlap * intervalMs) {
      const message = `${window} is summed up again at each ${interval}, which takes New Relic long`;
      yield [at('window', 'interval'), message, 'write interval: 1h and stale_after: 2h'];
    }
  }
}

/** Delays of New Relic's own window, which only NerdGraph lacks. */
function* uselessDelays({ written, config }: GoodFile): Iterable<Found> {
  const { accounts, apps, queries } = config;
  const ofRest = new Set(
    accounts.flatMap(({ name, source: { kind } }) => (kind === 'rest' ? name : [])),
  );
  const useless = apps.map(
    ({ account, poll: { window } }) => window.kind === 'vendor_default' && ofRest.has(account),
  );
  const isUsualUseless = queries === undefined && !useless.includes(false);
  for (const [index, isUseless] of useless.entries()) {
    const delay = givenPath(written, ['apps', index], 'delay');
    if (delay === undefined || !isUseless || (delay[0] === 'poll' && !isUsualUseless)) continue;
    const message = '"delay" has no effect with "window: default": the REST API chooses both ends';
    yield [delay, message, 'remove it, or write how long the window is, such as window: 30m'];
  }
}

function* unusedAccounts({ config }: GoodFile): Iterable<Found> {
  const { accounts, apps, queries = [] } = config;
  const used = new Set([...apps, ...queries].map(({ account }) => account));
  for (const [index, { name }] of accounts.entries()) {
    if (used.has(name)) continue;
    const message = `no entry of "apps" or "queries" is of the account "${name}": it is not polled`;
    yield [['accounts', index, 'name'], message, 'add an entry, or remove the account'];
  }
}

/** Names of gauges that state another unit than the values have. */
function* wrongEndings(file: GoodFile): Iterable<Found> {
  for (const { poll, path } of everyPoll(file)) {
    for (const [index, metric] of (poll.metrics ?? []).entries()) {
      if (typeof metric !== 'object') continue;
      const { as, value, scale } = metric;
      const wrong = wrongEnding(as, vendorValues[value], scale, (other) => `scale: ${other}`);
      if (wrong !== undefined) yield [[...path, 'metrics', index, 'as'], ...wrong];
    }
  }
}

/** What New Relic has in seconds: of other events, such as synthetic checks, it has milliseconds, or it is not known. */
const inSeconds: ReadonlySet<string> = new Set(['Transaction', 'PageView']);

/** The same of queries, as far as the unit is known. */
function* wrongEndingsOfQueries({ parsed }: GoodFile): Iterable<Found> {
  for (const [index, { meaning }] of parsed.queries.entries()) {
    const { gauges, eventTypes } = meaning;
    const isKnown = eventTypes.length > 0 && eventTypes.every((type) => inSeconds.has(type));
    for (const { name, unit } of gauges) {
      if (!isKnown || !/^\w*duration$/iu.test(unit)) continue;
      const wrong = wrongEnding(name, 'seconds', 1, (scale) => `${unit} * ${scale}`);
      if (wrong !== undefined) yield [['queries', index, 'as'], ...wrong];
    }
  }
}

/** Names of gauges that a later version may have itself, and then refuse. */
function* namesLikeOwn(file: GoodFile): Iterable<Found> {
  const why =
    "begins like the exporter's own names: a later version may have it, and refuse this one";
  const help = 'write a name of your own, such as shop_queue_time_seconds';
  for (const { poll, path } of everyPoll(file)) {
    for (const [index, metric] of (poll.metrics ?? []).entries()) {
      if (typeof metric === 'string' || !mayBecomeOwn(metric.as)) continue;
      yield [[...path, 'metrics', index, 'as'], `"${metric.as}" ${why}`, help];
    }
    for (const { name, member } of 'meaning' in poll ? poll.meaning.gauges : []) {
      const ofSeveral = [...path, 'as', member];
      const as = isWritten(file.written, ofSeveral) ? ofSeveral : [...path, 'as'];
      if (mayBecomeOwn(name)) yield [as, `"${name}" ${why}`, help];
    }
  }
}

/** Patterns that match every name. */
const everything: ReadonlySet<string> = new Set(
  ['', '.', '.*', '.+', '(?s).*', '(?s:.*)'].flatMap((body) => [body, `^${body}`, `^${body}$`]),
);

/**
 * Entries of which the file alone tells that they have no effect. Which applications other patterns
 * take, `check-config --online` tells.
 */
function* shadowedEntries({ config }: GoodFile): Iterable<Found> {
  const seen = new Set<string>();
  const catchAlls = new Map<string, string>();
  for (const [index, { account, selector, exclude }] of config.apps.entries()) {
    const text = selectorText(selector);
    const key = JSON.stringify([account, text]);
    const catchAll = catchAlls.get(account);
    const ofCatchAll =
      catchAll === undefined ? undefined : `the earlier entry ${catchAll} every application`;
    const reason = seen.has(key) ? `an earlier entry already has the selector ${text}` : ofCatchAll;
    seen.add(key);
    if (reason !== undefined) {
      const path = ['apps', index, selector.kind];
      const help = 'remove it, or put it before that one';
      yield [path, `${reason}: this one has no effect`, help];
    } else if (selector.kind === 'match' && everything.has(selector.pattern.source)) {
      catchAlls.set(account, `${text} ${exclude ? 'excludes' : 'already selects'}`);
    }
  }
}

/** Sidecars of which each publishes what all have in common. */
function* publishedByAll({ parsed }: GoodFile): Iterable<Found> {
  for (const [index, { hosts, application, exclude }] of parsed.apps.entries()) {
    if (hosts !== 'self' || !application || exclude) continue;
    const message =
      '"hosts: self" without "application: false": each exporter with this entry publishes the application, too';
    yield [['apps', index, 'hosts'], message, 'write application: false'];
  }
}

const onlyCases = /^cases *\((?!.*\) *OR\b)/iu;

/** Queries that give the ten biggest rows, which are others from time to time. Cases are few. */
function* facetsWithoutLimit({ parsed }: GoodFile): Iterable<Found> {
  for (const [index, { meaning }] of parsed.queries.entries()) {
    const { clauses } = readNrql(meaning.written);
    const facet = clauses.get('FACET')?.find(({ expression }) => !onlyCases.test(expression));
    if (facet === undefined || clauses.has('LIMIT')) continue;
    const message =
      '"nrql" has FACET without LIMIT: New Relic gives the ten biggest rows, and which ten changes';
    const help = 'write LIMIT and a number behind it, such as LIMIT 100, or LIMIT MAX';
    yield [['queries', index, 'nrql'], message, help, facet];
  }
}

type WarningRule = (file: GoodFile) => Iterable<Found>;

const warningRules: readonly WarningRule[] = [
  accountWarnings,
  sharedKeys,
  oddTimes,
  clashingTimes,
  misreadings,
  uselessDelays,
  unusedAccounts,
  wrongEndings,
  wrongEndingsOfQueries,
  namesLikeOwn,
  shadowedEntries,
  publishedByAll,
  facetsWithoutLimit,
];

/** The keys that must be right as a whole for a rule: it speaks of what is not there, or of defaults. */
const needs: ReadonlyMap<WarningRule, readonly (keyof FileConfig | 'patterns')[]> = new Map([
  [uselessDelays, ['accounts', 'poll', 'include', 'apps', 'queries']],
  [unusedAccounts, ['accounts', 'include', 'apps', 'queries']],
  [clashingTimes, ['poll']],
  [shadowedEntries, ['patterns']],
]);

/** Finds what is allowed but probably not meant. In keys that are `unsure` something is wrong. */
export function warningsOf(
  file: (GoodFile & { readonly unsure: ReadonlySet<string> }) | undefined,
): readonly Found[] {
  if (file === undefined) return [];
  return warningRules
    .filter((rule) => (needs.get(rule) ?? []).every((key) => !file.unsure.has(key)))
    .flatMap((rule) => [...rule(file)]);
}
