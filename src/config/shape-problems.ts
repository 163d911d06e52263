import { z } from 'zod';
import { own } from '../model/own.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import type { KeyPlaces } from './schema-fields.ts';
import { didYouMean } from './suggestion.ts';
import {
  describe,
  isPlainMap,
  type Path,
  type PlainMap,
  spanAt,
  textsIn,
  valueAt,
  type Written,
  writtenAt,
  type YamlDocument,
} from './yaml-document.ts';

type Issue = z.core.$ZodIssue;

/** The subject of an issue, in the words of the file. */
function subjectOf(path: Path): string {
  const last = path.at(-1);
  if (typeof last === 'number') return `each entry of "${String(path.at(-2))}"`;
  return last === undefined ? 'the file' : `"${String(last)}"`;
}

/** Whether a map has a key that was probably meant to be one of `names`. */
export function hasMisspelt(map: PlainMap, names: readonly string[]): boolean {
  const others = Object.keys(map).filter((key) => !names.includes(key));
  return others.some((key) => didYouMean(key, names) !== undefined);
}

function unknownKeys(
  document: YamlDocument,
  { path, keys, message: listed }: z.core.$ZodIssueUnrecognizedKeys,
  places: KeyPlaces,
): readonly Problem[] {
  return keys.map((key) => {
    const span = spanAt(document, [...path, key], 'key');
    const elsewhere = places.flatMap(([where, known]) => (known.includes(key) ? [where] : []));
    const belongs = `"${key}" belongs to ${elsewhere.join(' or to ')}`;
    const otherwise = elsewhere.length === 0 ? `the keys here are ${listed}` : belongs;
    return errorAt(span, `unknown key "${key}"`, didYouMean(key, listed.split(', ')) ?? otherwise);
  });
}

/** Reports a missing key, unless a misspelt key is reported instead. */
function missingKey(document: YamlDocument, path: Path): readonly Problem[] {
  const key = String(path.at(-1));
  const parent = path.slice(0, -1);
  const map = valueAt(document.value, parent);
  if (!isPlainMap(map) || hasMisspelt(map, [key])) return [];
  return [errorAt(spanAt(document, parent), `missing key "${key}"`)];
}

/** Whether it helps to repeat the value: a text may be long, and an empty list tells nothing. */
function namesFound(issue: Issue): boolean {
  if (issue.code === 'too_small' || issue.code === 'too_big')
    return issue.origin !== 'string' && issue.origin !== 'array';
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function customHelp(issue: Issue): string | undefined {
  const help: unknown = issue.code === 'custom' ? issue.params?.['help'] : undefined;
  return typeof help === 'string' ? help : undefined;
}

/** What other programs replace: `${NAME}` or `$(NAME)` anywhere, or `$NAME` as the whole text. */
const variable = /\$\{([A-Za-z_]\w*)(?::?[-=?+][^}]*)?\}|\$\(([A-Za-z_]\w*)\)|^\$([A-Za-z_]\w*)$/u;

/** Lists of maps, and the key that is the likeliest for a text in the place of a map. */
const entryKeys: ReadonlyMap<string, string> = new Map([
  ['accounts', 'name'],
  ['apps', 'name'],
  ['queries', 'nrql'],
]);

/** A longer text is not repeated. */
const longestRepeated = 60;

/** How to write a text, or the first of a list, that stands in the place of a list, a map or a flag. */
function rightForm(issue: Issue, { value }: Written): string | undefined {
  const [{ text } = { text: '' }] = textsIn(value);
  if (issue.code !== 'invalid_type' || text === '' || text.length > longestRepeated)
    return undefined;
  const quoted = JSON.stringify(text);
  const key = String(issue.path.findLast((step) => typeof step === 'string'));
  const entryKey = entryKeys.get(key);
  const flag = /^(?:(true|yes|on)|false|no|off)$/iu.exec(text);
  if (issue.expected === 'boolean' && flag !== null) return `write ${key}: ${Boolean(flag[1])}`;
  if (issue.expected === 'boolean' && key === 'exclude') {
    return `write an entry of its own before this one: - { match: ${quoted}, exclude: true }`;
  }
  if (typeof value !== 'string') return undefined;
  if (entryKey !== undefined) return `write - ${entryKey}: ${quoted}`;
  return issue.expected === 'array' ? `write ${key}: [${quoted}]` : undefined;
}

function scalarHelp(issue: Issue, { value, source }: Written): string | undefined {
  // A password may look like a reference.
  const isSecret = issue.code === 'custom' && issue.params?.['isSecret'] === true;
  const found = typeof value === 'string' && !isSecret ? variable.exec(value) : null;
  if (found !== null) {
    const what = `variables such as $${found.slice(1).join('')} are not replaced in this file`;
    return `${what}: write the value itself, or let another program such as envsubst fill in the file`;
  }
  if (issue.code === 'invalid_value') return didYouMean(source, issue.values.map(String));
  const isTextWanted = issue.code === 'invalid_type' && issue.expected === 'string';
  return isTextWanted && typeof value !== 'object'
    ? `put it in quotes: "${source}"`
    : customHelp(issue);
}

function helpFor(issue: Issue, found: Written): string | undefined {
  const isListWanted = issue.code === 'invalid_type' && issue.expected === 'array';
  // YAML reads `-id: 1` as a key that begins with a dash.
  if (isListWanted && isPlainMap(found.value)) {
    return 'write "- ", with the blank, in front of each entry';
  }
  return scalarHelp(issue, found) ?? rightForm(issue, found);
}

/** The part of a text that an issue is about. */
const textPart = z.object({ at: z.int(), length: z.int() });

function wrongValue(document: YamlDocument, issue: Issue, found: Written): Problem {
  const what = namesFound(issue) ? `${issue.message}, not ${describe(found)}` : issue.message;
  const message = `${subjectOf(issue.path)} ${what}`;
  const { data } = textPart.safeParse(issue.code === 'custom' ? issue.params?.['part'] : undefined);
  const help = data === undefined ? helpFor(issue, found) : customHelp(issue);
  return errorAt(spanAt(document, issue.path, data), message, help);
}

/**
 * The issues of the alternative that was probably meant: one that fits as far as its keys, or else the
 * first.
 */
function issuesOfAlternative(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] {
  const isWithin = ({ path, code }: Issue): boolean =>
    path.length > 0 || code === 'unrecognized_keys';
  const meant = issue.errors.find((issues) => issues.some(isWithin)) ?? issue.errors[0] ?? [];
  return meant.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function problemsOf(document: YamlDocument, issue: Issue, places: KeyPlaces): readonly Problem[] {
  if (issue.code === 'invalid_union') {
    return issuesOfAlternative(issue).flatMap((one) => problemsOf(document, one, places));
  }
  if (issue.code === 'unrecognized_keys') return unknownKeys(document, issue, places);
  if (issue.code === 'invalid_key') {
    const message = `${subjectOf(issue.path)} ${issue.issues[0]?.message ?? 'is not allowed'}`;
    return [errorAt(spanAt(document, issue.path, 'key'), message)];
  }
  const found = writtenAt(document, issue.path);
  if (found === undefined) return missingKey(document, issue.path);
  return [wrongValue(document, issue, found)];
}

/**
 * Turns the errors of a schema into problems with a place, in the words of the file.
 *
 * @param places where a key may belong that stands in the wrong map
 */
export function shapeProblems(
  document: YamlDocument,
  error: z.ZodError | undefined,
  places: KeyPlaces,
): readonly Problem[] {
  return (error?.issues ?? []).flatMap((issue) => problemsOf(document, issue, places));
}

/** Where a schema has found something. */
export function pathsOf(error: z.ZodError | undefined): readonly Path[] {
  return (error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...issue.path, key])
      : [issue.path],
  );
}

/**
 * A file in which something else stands for what is wrong: nothing follows from that, and nothing is odd about it.
 */
export function readableOf(written: PlainMap, wrong: readonly Path[]): PlainMap {
  const marks = new Set(wrong.flatMap((path) => [2, 3].map((end) => path.slice(0, end).join(' '))));
  type StandIn = (index: number, entry: unknown) => PlainMap;
  const listOf = (key: string, standIn: StandIn): readonly unknown[] => {
    const list = own(written, key);
    return (Array.isArray(list) ? list : []).map((entry: unknown, index) =>
      marks.has(`${key} ${index}`) ? standIn(index, entry) : entry,
    );
  };
  const account: StandIn = (index, entry) => {
    const map = isPlainMap(entry) ? entry : {};
    const isRead = (key: string): boolean =>
      isPlainMap(entry) && !marks.has(`accounts ${index} ${key}`) && !hasMisspelt(map, [key]);
    const isRest = isRead('source') && map['source'] !== 'nerdgraph';
    const name = isRead('name') ? map['name'] : `account ${index + 1}`;
    const source = isRest ? 'rest' : 'nerdgraph';
    return { name, source, account_id: 1, api_key_env: `ACCOUNT_${index}` };
  };
  const nrql = 'SELECT count(*) FROM Unread';
  const { accounts, poll } = written;
  const areMeant = accounts !== undefined || hasMisspelt(written, ['accounts']);
  const read = listOf('accounts', account);
  const settings = Object.entries(isPlainMap(poll) ? poll : {});
  return {
    ...(areMeant && { accounts: read.length === 0 ? [account(0, undefined)] : read }),
    poll: Object.fromEntries(settings.filter(([key]) => !marks.has(`poll ${key}`))),
    apps: listOf('apps', (index) => ({ id: index + 1, account: 'unread', exclude: true })),
    queries: listOf('queries', (index) => ({ as: `unread_${index}`, nrql, account: 'unread' })),
  };
}
