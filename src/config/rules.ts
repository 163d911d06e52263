import { beginsLikeKey } from '../model/key-text.ts';
import { own } from '../model/own.ts';
import { hostGaugeName } from '../model/polled-series.ts';
import { documentUrl } from '../model/shown-text.ts';
import { errorAt, type FileProblem, mostShown } from './diagnostic.ts';
import { metricConflicts } from './metric-rules.ts';
import { accountsOf, type FileConfig, nerdgraphMostCalls } from './schema.ts';
import { derivedLabelProblems } from './schema-fields.ts';
import { forEach, hasMisspelt } from './shape-problems.ts';
import { closest, didYouMean } from './suggestion.ts';
import {
  type Found,
  isPlainMap,
  mapsUnder,
  type Path,
  type PlacedMap,
  type PlacedText,
  type PlainMap,
  scalarsIn,
  textAt,
  textsIn,
  type YamlDocument,
} from './yaml-document.ts';

/** What a rule is about: the file as it is written, and what can be read of it. */
export interface RuledFile {
  readonly written: PlainMap;
  /** What those of its values mean that have their form. */
  readonly parsed: FileConfig | undefined;
  /** False if it includes a file that cannot be used. */
  readonly isWhole: boolean;
}

/** A rule about the whole file, and one about a map in it, whatever else is wrong with them. */
export type FileRule = (file: RuledFile) => Iterable<Found>;
type MapRule = (map: PlacedMap) => Iterable<Found>;

/** What the schema cannot see. It works on files that the schema rejects, too, so that one run shows all. */
export const rules: readonly FileRule[] = [
  duplicateNames,
  ofEach(
    'accounts',
    needing('an account', 'api_key_file', 'api_key_env'),
    excluding('api_key_file', 'api_key_env'),
    excluding('region', 'base_url'),
    excluding('proxy_url', 'proxy_url_file', 'proxy_url_env'),
    nerdgraphAccount,
  ),
  ofEach(
    'apps',
    needing('an app', 'id', 'name', 'match'),
    excluding('id', 'name', 'match'),
    nothingToShow,
    settingsOfExclusion,
  ),
  nothingLeft,
  missingAccounts,
  unknownAccounts,
  metricConflicts,
  ofParsed(tagProblems),
  ofParsed(accountsOfQueries),
  ofParsed(gaugesOfQueries),
];

function ofEach(key: 'accounts' | 'apps', ...ofMaps: readonly MapRule[]): FileRule {
  return ({ written }) =>
    mapsUnder(written, key).flatMap((map) => ofMaps.flatMap((rule) => [...rule(map)]));
}

/** A rule about values that have their form. */
function ofParsed(rule: (file: FileConfig) => Iterable<Found>): FileRule {
  return ({ parsed }) => (parsed === undefined ? [] : rule(parsed));
}

function quoted(names: readonly string[]): readonly string[] {
  return names.map((name) => `"${name}"`);
}

/** All but the first of several keys that exclude each other. */
function excluding(...keys: readonly string[]): MapRule {
  return ({ map, path }) => {
    const [first, ...others] = Object.keys(map).filter((key) => keys.includes(key));
    return others.map((key): Found => {
      const message = `"${first}" and "${key}" exclude each other`;
      return [[...path, key], message, 'keep one of them', 'key'];
    });
  };
}

/** A map without any of the keys. A misspelt key counts, and so does an API key in the file itself. */
function needing(what: string, ...keys: readonly string[]): MapRule {
  return ({ map, path }) => {
    const isThere = Object.keys(map).some((key) => keys.includes(key) || namesAKey(key));
    if (isThere || hasMisspelt(map, keys)) return [];
    const listed = quoted(keys)
      .join(', ')
      .replace(/, (?=[^,]*$)/u, ' and ');
    return [[path, `${what} needs one of ${listed}`]];
  };
}

/** An entry that shows neither the application nor a host of it shows nothing. */
function* nothingToShow({ map, path }: PlacedMap): Iterable<Found> {
  if (map['application'] !== false || map['hosts'] !== false) return;
  const message = 'an app without the application and without hosts publishes nothing';
  yield [path, message, 'leave out "application: false" or "hosts: false"'];
}

const keysOfExclusion: ReadonlySet<string> = new Set(['id', 'name', 'match', 'account', 'exclude']);

/** Settings of polls in an entry that says what is not polled. */
function* settingsOfExclusion({ map, path }: PlacedMap): Iterable<Found> {
  if (map['exclude'] !== true) return;
  for (const key of Object.keys(map).filter((one) => !keysOfExclusion.has(one))) {
    const message = `"${key}" has no effect in an entry with "exclude: true": nothing of it is polled`;
    yield [[...path, key], message, 'remove it', 'key'];
  }
}

/** The message, of what New Relic can be asked for. */
export const missingAccountId =
  '"source: nerdgraph" needs "account_id", the id of the New Relic account';

const accountIdHelp =
  'look it up in New Relic: user menu, API keys ("newrelic-exporter check-config --online" proposes it)';

/** What an account with `source: nerdgraph` must have, and must not. */
function* nerdgraphAccount({ map, path }: PlacedMap): Iterable<Found> {
  if (map['source'] !== 'nerdgraph') return;
  if (!Object.hasOwn(map, 'account_id') && !hasMisspelt(map, ['account_id'])) {
    yield [[...path, 'source'], missingAccountId, accountIdHelp];
  }
  const { concurrency } = map;
  if (Number.isSafeInteger(concurrency) && Number(concurrency) > nerdgraphMostCalls) {
    const message =
      `"concurrency" must be at most ${nerdgraphMostCalls} with "source: nerdgraph": ` +
      `NerdGraph refuses more than ${nerdgraphMostCalls} requests in flight per user`;
    yield [[...path, 'concurrency'], message, 'New Relic advises 5, the default'];
  }
}

const emptyHelp = 'write what is polled, such as apps: [{ match: "." }], or "queries"';

/** A file that asks for nothing. */
function* nothingLeft({ written, isWhole }: RuledFile): Iterable<Found> {
  if (!isWhole) return;
  const { apps, queries } = written;
  if (queries !== undefined && !isEmptyList(queries)) return;
  if (hasMisspelt(written, ['apps', 'queries'])) return;
  if (apps === undefined) {
    const { include } = written;
    const isIncluding = Array.isArray(include) && include.length > 0;
    if (isIncluding) yield [['include'], 'no file of "include" has an entry', emptyHelp];
    else yield [[], 'missing key "apps"', emptyHelp];
  }
  if (isEmptyList(apps)) yield [['apps'], '"apps" must not be empty', emptyHelp];
  const [first, ...others] = mapsUnder(written, 'apps');
  if (first === undefined || ![first, ...others].every(({ map }) => map['exclude'] === true))
    return;
  const message = 'all entries have "exclude: true", so nothing is polled';
  yield [first.path, message, 'add what is polled after them, such as - match: "."'];
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function namedAccounts(written: PlainMap): readonly PlacedText[] {
  return mapsUnder(written, 'accounts').flatMap((account) => textAt(account, 'name') ?? []);
}

function* duplicateNames({ written }: RuledFile): Iterable<Found> {
  const seen = new Set<string>();
  for (const { text, path } of namedAccounts(written)) {
    if (seen.has(text)) yield [path, `an earlier account already has the name "${text}"`];
    seen.add(text);
  }
}

/** The names that `account` may refer to; `undefined` if some name cannot be read. */
function accountNames(written: PlainMap): ReadonlySet<string> | undefined {
  const { accounts } = written;
  if (accounts === undefined) {
    return hasMisspelt(written, ['accounts']) ? undefined : new Set(['default']);
  }
  const names = namedAccounts(written).map(({ text }) => text);
  const isComplete = Array.isArray(accounts) && accounts.length === names.length;
  return isComplete && names.length > 0 ? new Set(names) : undefined;
}

/** Nobody would read a help text that names more. */
const mostNamed = 10;

function listOf(names: ReadonlySet<string>): string {
  const more = names.size > mostNamed ? ` and ${names.size - mostNamed} more` : '';
  return quoted([...names].slice(0, mostNamed)).join(', ') + more;
}

function entriesOf(written: PlainMap): readonly PlacedMap[] {
  return [...mapsUnder(written, 'apps'), ...mapsUnder(written, 'queries')];
}

function missingAccounts({ written }: RuledFile): readonly Found[] {
  const names = accountNames(written);
  if (names === undefined || names.size === 1) return [];
  const help = `the file has several accounts: ${listOf(names)}`;
  return entriesOf(written)
    .filter(({ map }) => !Object.hasOwn(map, 'account') && !hasMisspelt(map, ['account']))
    .map(({ path }) => [path, 'missing key "account"', help]);
}

function unknownAccounts({ written }: RuledFile): readonly Found[] {
  const names = accountNames(written);
  if (names === undefined) return [];
  const all = [...names];
  const listed = listOf(names);
  return entriesOf(written)
    .flatMap(({ map, path }) => {
      const isQuery = Object.hasOwn(map, 'nrql');
      // An entry of queries may have a list, or a star for all.
      if (isQuery && map['account'] === '*') return [];
      const texts = isQuery || typeof map['account'] === 'string' ? map['account'] : [];
      return textsIn(texts, [...path, 'account']).map((one) => ({ ...one, map, isQuery }));
    })
    .filter(({ text }) => !names.has(text))
    .map(({ text, path, map, isQuery }, index) => {
      const several = ['*', 'all'].includes(text) ? all : text.split(',').map((one) => one.trim());
      if (several.every((one) => names.has(one))) {
        const list = several === all ? '"*"' : `[${several.join(', ')}]`;
        const ofQuery = `write account: ${list}`;
        const help = isQuery ? ofQuery : forEach(map, 'account', several);
        return [path, `unknown account "${text}"`, help ?? `the accounts are ${listed}`];
      }
      // Each search goes through all names, so it is done only for the errors that are shown.
      const near = index < mostShown ? didYouMean(text, all) : undefined;
      return [path, `unknown account "${text}"`, near ?? `the accounts are ${listed}`];
    });
}

const sourceHelp = 'write "source: nerdgraph" and "account_id" in that account';

function* ofRest(
  what: string,
  path: Found[0],
  account: string | undefined,
  accounts: FileConfig['accounts'],
): Iterable<Found> {
  const found = accounts.find(({ name }) => name === account);
  if (found?.source !== 'rest') return;
  const message = `there are ${what} only with "source: nerdgraph", and the account "${found.name}" has "source: rest"`;
  yield [path, message, sourceHelp];
}

/** Tags where there are none, and tags beside other labels. */
function* tagProblems({ accounts, apps, poll }: FileConfig): Iterable<Found> {
  for (const [index, app] of apps.entries()) {
    const { exclude, tags: written, metrics = poll.metrics } = app;
    const kept = written ?? poll.tags;
    if (exclude || Object.keys(kept).length === 0) continue;
    const path = written === undefined ? ['poll', 'tags'] : ['apps', index, 'tags'];
    yield* ofRest('tags', path, app.account ?? accounts[0]?.name, accounts);
    const others = [app, ...metrics].flatMap((one) => {
      const labels = typeof one === 'string' ? [] : Object.keys(one.labels);
      const where = typeof one === 'object' && 'as' in one ? `the metric "${one.as}"` : '"labels"';
      return labels.map((label) => [label, `in ${where}`] as const);
    });
    const beside = { key: 'tags', kept, others };
    for (const { message, help } of derivedLabelProblems(Object.entries(kept), beside)) {
      yield [path, `"tags" ${message}`, help];
    }
  }
}

/** Queries where there are none. */
function* accountsOfQueries(file: FileConfig): Iterable<Found> {
  for (const [index, query] of file.queries.entries()) {
    const path = ['queries', index];
    const accounts = accountsOf(query, file.accounts);
    for (const [order, account] of accounts.entries()) {
      const at = Array.isArray(query.account) ? [...path, 'account', order] : path;
      yield* ofRest('queries', at, account, file.accounts);
    }
    if (accounts.length === 0) {
      const message = '"account" is "*", and no account has "source: nerdgraph"';
      yield [[...path, 'account'], message, sourceHelp];
    }
  }
}

/** Gauges of queries that are there already, or are something else elsewhere. */
function* gaugesOfQueries(file: FileConfig): Iterable<Found> {
  const metrics = [file.poll, ...file.apps].flatMap((one) => one.metrics ?? []);
  const ofMetrics = new Set(
    metrics.flatMap((one) => (typeof one === 'string' ? [] : [one.as, hostGaugeName(one.as)])),
  );
  const units = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, query] of file.queries.entries()) {
    for (const { name, unit } of query.meaning.gauges) {
      const before = units.get(name) ?? unit;
      units.set(name, before);
      const series = accountsOf(query, file.accounts).map((one) => JSON.stringify([one, name]));
      const isTaken = series.some((one) => taken.has(one));
      for (const one of series) taken.add(one);
      let problem = before === unit ? '' : `has two units: ${before} before, ${unit} here`;
      if (isTaken) problem = 'is there already in the account';
      if (ofMetrics.has(name)) problem = 'is also one of "metrics"';
      const message = `the gauge "${name}" ${problem}`;
      if (problem !== '') yield [['queries', index, 'as'], message, 'choose another name'];
    }
  }
}

const decimal = /^-?(?:0|[1-9]\d*)$/u;

/** Numbers that people and programs read in different ways: 010 is 10, or 8. A factor may be 1e-3. */
export function* oddNumbers(document: YamlDocument): Iterable<Found> {
  for (const { value, span, path } of scalarsIn(document)) {
    if (typeof value !== 'number' && typeof value !== 'bigint') continue;
    const source = span.file.text.slice(span.start, span.end);
    const key = path.findLast((step) => typeof step === 'string') ?? '';
    if (decimal.test(source) || key === 'scale') continue;
    const message = `"${key}" must be in decimal digits without a leading zero, not ${source}`;
    const number = /^\+?\d+$/u.test(source) ? BigInt(source.replace('+', '')) : value;
    yield [path, message, `write ${key}: ${number}`];
  }
}

/** A file that has nothing in common with a configuration; what else is wrong with it does not matter. */
export function foreignFile(written: PlainMap): FileProblem | undefined {
  const known = ['accounts', 'poll', 'include', 'apps', 'queries'];
  const keys = Object.keys(written);
  if (keys.length === 0 || keys.some((key) => closest(key, known) !== undefined)) return undefined;
  const isOfMrf = keys.some((key) => key.startsWith('api.'));
  const outer = keys.find((key) => {
    const inner = own(written, key);
    return isPlainMap(inner) && known.some((one) => Object.hasOwn(inner, one));
  });
  if (outer !== undefined) {
    const help = `write what stands under "${outer}" alone`;
    return errorAt(undefined, `the configuration stands under "${outer}"`, help);
  }
  if (keys.includes('apiVersion') && keys.includes('kind')) {
    const help = 'write what stands under the name of the file in "data", with nothing around it';
    return errorAt(undefined, 'this is a manifest of Kubernetes', help);
  }
  const owner = keys.includes('applications') ? 'ContaAzul' : isOfMrf ? 'mrf' : undefined;
  const whose = owner === undefined ? 'another program' : `${owner}/newrelic_exporter`;
  const message = `this is a configuration of ${whose}: it has none of the keys ${known.join(', ')}`;
  const page = isOfMrf ? 'metrics.md#from-other-exporters' : 'getting-started.md';
  return errorAt(undefined, message, `begin with ${documentUrl(page)}`);
}

/** Keys that people give the API key itself, in lower case and without separators. */
const keyNames = new Set(['apikey', 'key', 'licensekey', 'userkey', 'newrelicapikey', 'token']);

/** Whether people give this key to the API key itself. A pair of `key` and `value` is a tag, as AWS writes it. */
function namesAKey(key: string, { value }: PlainMap = {}): boolean {
  return value === undefined && keyNames.has(key.toLowerCase().replaceAll(/[-_. ]/gu, ''));
}

export const apiKeyMessage = 'the API key must not be in this file';
export const apiKeyHelp =
  'put the key into a file and name it with "api_key_file", or into an environment variable and name that with "api_key_env"';

/** An API key in a file: the way to it, what is marked there, and what must never be printed. */
export type WrittenApiKey = readonly [
  path: Path,
  marked: 'key' | undefined,
  secret: 'key' | undefined,
];

/** Finds API keys in a value: by the name of their key, but for a label, or by how they begin. */
export function* apiKeysIn(
  value: unknown,
  path: Path = [],
  areLabels = false,
): Iterable<WrittenApiKey> {
  if (typeof value === 'string' && beginsLikeKey(value)) yield [path, undefined, undefined];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* apiKeysIn(item, [...path, index]);
  } else if (isPlainMap(value)) {
    for (const [key, item] of Object.entries(value)) {
      const at = [...path, key];
      if (beginsLikeKey(key)) yield [at, 'key', 'key'];
      if (namesAKey(key, value) && !areLabels) yield [at, 'key', undefined];
      else yield* apiKeysIn(item, at, key === 'labels');
    }
  }
}
