import { errorAt, mostShown, type Problem } from './diagnostic.ts';
import {
  isOff,
  type Located,
  type LocatedMap,
  locate,
  mapsUnder,
  type Span,
  textEntry,
} from './located.ts';
import { namesAKey } from './secret-problems.ts';
import { hasMisspelt } from './shape-problems.ts';
import { sourceProblems } from './source-problems.ts';
import { didYouMean } from './suggestion.ts';

const selectorKeys = ['id', 'name', 'match'] as const;
const keyLocations = ['api_key_file', 'api_key_env'] as const;

function quotedList(names: readonly string[], conjunction: string): string {
  const quoted = names.map((name) => `"${name}"`);
  return `${quoted.slice(0, -1).join(', ')} ${conjunction} ${quoted.at(-1)}`;
}

/** Reports all but the first of several keys that exclude each other. */
function excluding(map: LocatedMap, keys: readonly string[]): readonly Problem[] {
  const present = [...map.entries.values()].filter(({ key }) => keys.includes(key));
  const [first, ...others] = present;
  return others.map(({ key, keySpan }) =>
    errorAt(keySpan, `"${first?.key}" and "${key}" exclude each other`, 'keep one of them'),
  );
}

/** Reports a map that does not have exactly one of the keys. A misspelt key counts. */
function exactlyOne(map: LocatedMap, what: string, keys: readonly string[]): readonly Problem[] {
  const isMissing = !keys.some((key) => map.entries.has(key)) && !hasMisspelt(map, keys);
  if (!isMissing) return excluding(map, keys);
  return [errorAt(map.span, `${what} needs one of ${quotedList(keys, 'and')}`)];
}

/** An account with an API key in the file itself is not reported for a missing key location, too. */
function keyLocation(account: LocatedMap): readonly Problem[] {
  return [...account.entries.keys()].some(namesAKey)
    ? excluding(account, keyLocations)
    : exactlyOne(account, 'an account', keyLocations);
}

/** YAML reads `0x10` as 16, which is hardly the intended id. */
function idNotation(map: LocatedMap, key: string): readonly Problem[] {
  const id = map.entries.get(key)?.value;
  if (id?.kind !== 'scalar') return [];
  const { value, source, span } = id;
  // The schema reports everything else that is wrong with an id.
  if (!Number.isSafeInteger(value) || Number(value) < 1 || source === String(value)) return [];
  const message = `"${key}" must be written in decimal digits only`;
  return [errorAt(span, message, `if ${value} is meant, write that`)];
}

/** An entry that shows neither the application nor a host of it shows nothing. */
function nothingToShow(app: LocatedMap): readonly Problem[] {
  if (!isOff(app, 'application') || !isOff(app, 'hosts')) return [];
  const message = 'an app without the application and without hosts publishes nothing';
  return [errorAt(app.span, message, 'leave out "application: false" or "hosts: false"')];
}

interface NamedAccount {
  readonly text: string;
  readonly span: Span;
}

function duplicateNames(accounts: readonly NamedAccount[]): readonly Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const { text, span } of accounts) {
    if (seen.has(text)) {
      problems.push(errorAt(span, `an earlier account already has the name "${text}"`));
    }
    seen.add(text);
  }
  return problems;
}

/** Nobody would read a help that names more. */
const mostNamed = 10;

/** Reports apps without an account, or with an unknown one. */
function accountReferences(
  apps: readonly LocatedMap[],
  names: ReadonlySet<string>,
): readonly Problem[] {
  const all = [...names];
  const listed = all.slice(0, mostNamed).map((name) => `"${name}"`);
  const more = names.size > mostNamed ? ` and ${names.size - mostNamed} more` : undefined;
  const choice = more === undefined ? quotedList(all, 'or') : listed.join(', ') + more;
  const known = listed.join(', ') + (more ?? '');
  let unknown = 0;
  return apps.flatMap((app) => {
    const reference = textEntry(app, 'account');
    if (reference === undefined) {
      const isMissing = !app.entries.has('account') && !hasMisspelt(app, ['account']);
      if (!isMissing || names.size < 2) return [];
      const help = `the file has several accounts: ${choice}`;
      return [errorAt(app.span, 'missing key "account"', help)];
    }
    const { text, span } = reference;
    if (names.has(text)) return [];
    unknown += 1;
    // Each search goes through all names, so it is done only for the errors that are shown.
    const near = unknown > mostShown ? undefined : didYouMean(text, all);
    return [errorAt(span, `unknown account "${text}"`, near ?? `the accounts are ${known}`)];
  });
}

/** The names that `account` may refer to; `undefined` if some name cannot be read. */
function accountNames(
  root: Located,
  accounts: readonly LocatedMap[],
  named: readonly NamedAccount[],
): ReadonlySet<string> | undefined {
  const list = locate(root, ['accounts']);
  if (list === undefined) return hasMisspelt(root, ['accounts']) ? undefined : new Set(['default']);
  const isComplete =
    list.kind === 'list' &&
    list.items.length > 0 &&
    list.items.length === accounts.length &&
    accounts.length === named.length;
  return isComplete ? new Set(named.map(({ text }) => text)) : undefined;
}

/**
 * Reports problems that the schema cannot see: keys that exclude each other, names that are defined
 * twice or not at all. Works on files that the schema rejects, too, so that one run shows everything.
 */
export function referenceProblems(root: Located): readonly Problem[] {
  const accounts = mapsUnder(root, 'accounts');
  const named = accounts
    .map((account) => textEntry(account, 'name'))
    .filter((entry) => entry !== undefined);
  const names = accountNames(root, accounts, named);
  const apps = mapsUnder(root, 'apps');
  return [
    ...duplicateNames(named),
    ...accounts.flatMap((account) => [
      ...keyLocation(account),
      ...excluding(account, ['region', 'base_url']),
      ...idNotation(account, 'account_id'),
      ...sourceProblems(account),
    ]),
    ...apps.flatMap((app) => [
      ...exactlyOne(app, 'an app', selectorKeys),
      ...idNotation(app, 'id'),
      ...nothingToShow(app),
    ]),
    ...(names === undefined ? [] : accountReferences(apps, names)),
  ];
}
