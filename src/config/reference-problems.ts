import { isScalar, isSeq } from 'yaml';
import { documentUrl } from '../model/documents.ts';
import { nerdgraphConcurrency } from './account-schema.ts';
import { errorAt, mostShown, type Problem } from './diagnostic.ts';
import { namesAKey } from './secret-problems.ts';
import { hasMisspelt } from './shape-problems.ts';
import { closest, didYouMean } from './suggestion.ts';
import {
  type FileMap,
  isSetTo,
  keysOf,
  locate,
  mapsUnder,
  type PlacedText,
  spanOf,
  textEntry,
  textsOf,
  valueOf,
} from './yaml-node.ts';

/** One rule about a map of the file, whatever else is wrong with it. */
type Rule = (map: FileMap) => readonly Problem[];

function quoted(names: readonly string[]): readonly string[] {
  return names.map((name) => `"${name}"`);
}

/** All but the first of several keys that exclude each other. */
function excluding(...keys: readonly string[]): Rule {
  return (map) => {
    const [first, ...others] = map.items.filter(({ key }) => keys.includes(key.value));
    return others.map(({ key }) => {
      const message = `"${first?.key.value}" and "${key.value}" exclude each other`;
      return errorAt(spanOf(key), message, 'keep one of them');
    });
  };
}

/** A map without any of the keys. A misspelt key counts, and so does an API key in the file itself. */
function needing(what: string, ...keys: readonly string[]): Rule {
  return (map) => {
    const isThere = keys.some((key) => map.has(key)) || keysOf(map).some(namesAKey);
    if (isThere || hasMisspelt(map, keys)) return [];
    const listed = quoted(keys)
      .join(', ')
      .replace(/, (?=[^,]*$)/u, ' and ');
    return [errorAt(spanOf(map), `${what} needs one of ${listed}`)];
  };
}

/** An entry that shows neither the application nor a host of it shows nothing. */
function nothingToShow(app: FileMap): readonly Problem[] {
  if (!isSetTo(app, 'application', false) || !isSetTo(app, 'hosts', false)) return [];
  const message = 'an app without the application and without hosts publishes nothing';
  return [errorAt(spanOf(app), message, 'leave out "application: false" or "hosts: false"')];
}

const keysOfExclusion: ReadonlySet<string> = new Set(['id', 'name', 'match', 'account', 'exclude']);

/** Settings of polls in an entry that says what is not polled. */
function settingsOfExclusion(app: FileMap): readonly Problem[] {
  if (!isSetTo(app, 'exclude', true)) return [];
  return app.items.flatMap(({ key }) => {
    const message = `"${key.value}" has no effect in an entry with "exclude: true": nothing of it is polled`;
    return keysOfExclusion.has(key.value) ? [] : [errorAt(spanOf(key), message, 'remove it')];
  });
}

const emptyHelp = 'write what is polled, such as apps: [{ match: "." }], or "queries"';

/** A file that asks for nothing. */
function nothingLeft(root: FileMap, apps: readonly FileMap[]): readonly Problem[] {
  const list = valueOf(root, 'apps');
  const queries = valueOf(root, 'queries');
  if (queries !== undefined && !(isSeq(queries) && queries.items.length === 0)) return [];
  if (hasMisspelt(root, ['apps', 'queries'])) return [];
  if (list === undefined) return [errorAt(spanOf(root), 'missing key "apps"', emptyHelp)];
  if (isSeq(list) && list.items.length === 0)
    return [errorAt(spanOf(list), '"apps" must not be empty', emptyHelp)];
  const [first] = apps;
  if (first === undefined || !apps.every((app) => isSetTo(app, 'exclude', true))) return [];
  const message = 'all entries have "exclude: true", so nothing is polled';
  return [errorAt(spanOf(first), message, 'add what is polled after them, such as - match: "."')];
}

const missingAccountId = '"source: nerdgraph" needs "account_id", the id of the New Relic account';

const accountIdHelp =
  'run newrelic-exporter check-config --online, which proposes it, or look it up in New Relic: user menu, API keys';

/** Whether the problem is that an account has no id, which New Relic can be asked for. */
export function isMissingAccountId({ message }: Problem): boolean {
  return message === missingAccountId;
}

/** What an account with `source: nerdgraph` must have, and must not. */
function nerdgraph(account: FileMap): readonly Problem[] {
  const source = textEntry(account, 'source');
  if (source?.text !== 'nerdgraph') return [];
  const problems: Problem[] = [];
  if (!account.has('account_id') && !hasMisspelt(account, ['account_id'])) {
    problems.push(errorAt(source.span, missingAccountId, accountIdHelp));
  }
  const concurrency = valueOf(account, 'concurrency');
  const value: unknown = isScalar(concurrency) ? concurrency.value : undefined;
  if (Number.isSafeInteger(value) && Number(value) > nerdgraphConcurrency) {
    const message =
      `"concurrency" must be at most ${nerdgraphConcurrency} with "source: nerdgraph": ` +
      `NerdGraph refuses more than ${nerdgraphConcurrency} requests in flight per user`;
    problems.push(
      errorAt(spanOf(concurrency ?? account), message, 'New Relic advises 5, the default'),
    );
  }
  return problems;
}

const accountRules: readonly Rule[] = [
  needing('an account', 'api_key_file', 'api_key_env'),
  excluding('api_key_file', 'api_key_env'),
  excluding('region', 'base_url'),
  excluding('proxy_url', 'proxy_url_file', 'proxy_url_env'),
  nerdgraph,
];

const appRules: readonly Rule[] = [
  needing('an app', 'id', 'name', 'match'),
  excluding('id', 'name', 'match'),
  nothingToShow,
  settingsOfExclusion,
];

function duplicateNames(accounts: readonly PlacedText[]): readonly Problem[] {
  const seen = new Set<string>();
  return accounts.flatMap(({ text, span }) => {
    const message = `an earlier account already has the name "${text}"`;
    return seen.size === seen.add(text).size ? [errorAt(span, message)] : [];
  });
}

/** Nobody would read a help text that names more. */
const mostNamed = 10;

/** Reports apps without an account, or with an unknown one. */
function accountReferences(
  apps: readonly FileMap[],
  names: ReadonlySet<string>,
): readonly Problem[] {
  const all = [...names];
  const more = names.size > mostNamed ? ` and ${names.size - mostNamed} more` : '';
  const listed = quoted(all.slice(0, mostNamed)).join(', ') + more;
  let unknown = 0;
  return apps.flatMap((app) => {
    if (!app.has('account') && !hasMisspelt(app, ['account']) && names.size > 1) {
      const help = `the file has several accounts: ${listed}`;
      return [errorAt(spanOf(app), 'missing key "account"', help)];
    }
    // An entry of queries may have a list, or a star for all.
    const mayBeAll = app.has('nrql') && textEntry(app, 'account')?.text === '*';
    const wanted = mayBeAll ? [] : textsOf(valueOf(app, 'account'));
    return wanted.flatMap(({ text, span }) => {
      if (names.has(text)) return [];
      unknown += 1;
      // Each search goes through all names, so it is done only for the errors that are shown.
      const near = unknown > mostShown ? undefined : didYouMean(text, all);
      const help = near ?? `the accounts are ${listed}`;
      return [errorAt(span, `unknown account "${text}"`, help)];
    });
  });
}

/** A file that has nothing in common with a configuration; what else is wrong with it does not matter. */
export function foreignFile(root: FileMap): Problem | undefined {
  const known = ['accounts', 'poll', 'apps', 'queries'];
  const keys = keysOf(root);
  if (keys.length === 0 || keys.some((key) => closest(key, known) !== undefined)) return undefined;
  const isOfMrf = keys.some((key) => key.startsWith('api.'));
  const owner = keys.includes('applications') ? 'ContaAzul' : isOfMrf ? 'mrf' : undefined;
  const whose = owner === undefined ? 'another program' : `${owner}/newrelic_exporter`;
  const message = `this is a configuration of ${whose}: it has none of the keys ${known.join(', ')}`;
  const page = isOfMrf ? 'metrics.md#from-other-exporters' : 'getting-started.md';
  return errorAt(undefined, message, `begin with ${documentUrl(page)}`);
}

/** The names that `account` may refer to; `undefined` if some name cannot be read. */
function accountNames(
  root: FileMap,
  named: readonly PlacedText[],
): ReadonlySet<string> | undefined {
  const list = locate(root, ['accounts']);
  if (list === undefined) return hasMisspelt(root, ['accounts']) ? undefined : new Set(['default']);
  const isComplete = isSeq(list) && list.items.length > 0 && list.items.length === named.length;
  return isComplete ? new Set(named.map(({ text }) => text)) : undefined;
}

/**
 * Reports problems that the schema cannot see: keys that exclude each other, names that are defined
 * twice or not at all. Works on files that the schema rejects, too, so that one run shows everything.
 */
export function referenceProblems(root: FileMap): readonly Problem[] {
  const accounts = mapsUnder(root, 'accounts');
  const apps = mapsUnder(root, 'apps');
  const named = accounts
    .map((account) => textEntry(account, 'name'))
    .filter((entry) => entry !== undefined);
  const names = accountNames(root, named);
  return [
    ...duplicateNames(named),
    ...accounts.flatMap((account) => accountRules.flatMap((rule) => rule(account))),
    ...apps.flatMap((app) => appRules.flatMap((rule) => rule(app))),
    ...nothingLeft(root, apps),
    ...(names === undefined
      ? []
      : accountReferences([...apps, ...mapsUnder(root, 'queries')], names)),
  ];
}
