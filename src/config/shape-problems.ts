import { stringify } from 'yaml';
import { z } from 'zod';
import { everyOwnLabel } from '../model/own-names.ts';
import { presetNames } from '../model/presets.ts';
import { cutText } from '../model/shown-text.ts';
import { valueNames } from '../model/vendor-value.ts';
import { errorAt, type FileProblem } from './diagnostic.ts';
import { type FormerKey, goneKey } from './former-keys.ts';
import { type KeyPlaces, labelProblem, snakeCase } from './schema-fields.ts';
import { didYouMean, variableHelp } from './suggestion.ts';
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

/** Of a key that nobody has written by hand. */
const longestShown = 100;

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
  former: readonly FormerKey[],
): readonly FileProblem[] {
  return keys.map((key) => {
    const span = spanAt(document, [...path, key], 'key');
    const gone = goneKey([...path, key], former);
    if (gone !== undefined) return errorAt(span, ...gone);
    const elsewhere = places.flatMap(([where, known]) => (known.includes(key) ? [where] : []));
    const dashed = key.startsWith('-') ? `write "- ${key.slice(1)}", with the blank` : undefined;
    const belongs = `"${key}" belongs to ${elsewhere.join(' or to ')}`;
    const otherwise = elsewhere.length === 0 ? `the keys here are ${listed}` : belongs;
    return errorAt(
      span,
      `unknown key "${cutText(key, longestShown)}"`,
      dashed ?? didYouMean(key, listed.split(', ')) ?? otherwise,
    );
  });
}

/** Reports a missing key, unless a misspelt key is reported instead. */
function missingKey(document: YamlDocument, path: Path): readonly FileProblem[] {
  const key = String(path.at(-1));
  const parent = path.slice(0, -1);
  const map = valueAt(document.value, parent);
  if (!isPlainMap(map) || hasMisspelt(map, [key])) return [];
  return [errorAt(spanAt(document, parent), `missing key "${key}"`, otherwise.get(key))];
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

/** Lists of maps: the likeliest key of a text in the place of a map, and that of the name of a map. */
const entryKeys: ReadonlyMap<string, readonly [ofText: string, ofName: string]> = new Map([
  ['accounts', ['name', 'name']],
  ['apps', ['name', 'name']],
  ['queries', ['nrql', 'as']],
]);

/** What is longer, or may be a secret, is not repeated. */
const longestQuoted = { text: 60, yaml: 200 };
const secret = /(?:key|token|password|secret)["']?:|:\/\//iu;

/** How to write a value under a key, in YAML on one line; `undefined` if that is not repeated. */
function writing(key: string, value: unknown): string | undefined {
  const text = stringify(value, { collectionStyle: 'flow', compat: 'yaml-1.1', lineWidth: 0 });
  if (text.length > longestQuoted.yaml || secret.test(text)) return undefined;
  const line = text.trim().replaceAll(/\n */gu, ' ');
  return key + line.replaceAll(/\[ (.*) \]/gu, '[$1]');
}

/** How to write a map that stands in the place of a list. */
function listFrom(key: string, map: PlainMap): string {
  const [, nameKey = ''] = entryKeys.get(key) ?? [];
  const values = Object.values(map);
  const areTexts = key === 'queries' && !Object.hasOwn(map, 'nrql');
  const areNamed = nameKey !== '' && values.every((value) => areTexts || isPlainMap(value));
  const named = Object.entries(map).map(([name, value]) => ({
    [nameKey]: name,
    ...(isPlainMap(value) ? value : { nrql: value }),
  }));
  // YAML reads `-id: 1` as a key that begins with a dash.
  const hasDash = Object.keys(map).some((name) => name.startsWith('-'));
  const list = key === 'include' ? ['teams/*.yaml'] : areNamed ? named : [map];
  const right = hasDash ? undefined : writing(`write ${key}: `, list);
  const begin = areNamed && !hasDash ? `${nameKey}: ${Object.keys(map)[0] ?? ''}` : '';
  return right ?? `write "- ${begin}", with the blank, in front of each entry`;
}

/** What people write for a map of texts: `a=b`, or maps in a list, those of Kubernetes too. */
function mapFrom(item: unknown): PlainMap {
  if (isPlainMap(item)) {
    const { name, value } = item;
    return typeof name === 'string' && value !== undefined ? { [name]: value } : item;
  }
  const [, name, text] = /^\s*([^=:]+?)\s*[=:]\s*(.+)$/su.exec(String(item)) ?? [];
  return name === undefined ? {} : { [name]: text };
}

const isOfAccount = /^(?:account_id|region|api_key_(?:file|env))$/u;

/** How to write an entry for each of several values, of which two are shown. */
export function forEach(
  entry: PlainMap,
  key: string,
  values: readonly unknown[],
): string | undefined {
  // No two accounts have the same name.
  const isNamed = isOfAccount.test(key) && typeof entry['name'] === 'string';
  const named = (value: unknown): PlainMap =>
    isNamed ? { name: `${String(entry['name'])}-${String(value)}` } : {};
  const [one, other] = values.map((value) =>
    writing('- ', { ...entry, ...named(value), [key]: value }),
  );
  const both = other === undefined ? one : `${one} and ${other}`;
  return one === undefined ? undefined : `write an entry for each: ${both}`;
}

/** How to write several values in the place of one. */
function severalOf(
  document: YamlDocument,
  path: Path,
  values: readonly unknown[],
): string | undefined {
  const [entries, , key] = path.map(String);
  const entry = valueAt(document.value, path.slice(0, 2));
  if (path.length !== 3 || key === undefined || values.length === 0) return undefined;
  const names = values.map((name) => String(name).replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&'));
  if (key === 'hosts') return writing('write hosts: ', { match: `^(?:${names.join('|')})$` });
  const isOne = /^(?:id|name|match|account|account_id|region|nrql|api_key_(?:file|env))$/u.test(
    key,
  );
  const isOfList = isOne && entryKeys.has(String(entries));
  return isOfList && isPlainMap(entry) ? forEach(entry, key, values) : undefined;
}

const isEvery = /^(?:\.?\*|all|any)$/u;

/** How to write what other programs call `all` or `*`. */
const everyOf: ReadonlyMap<string, string> = new Map([
  ['apps', 'write - match: "."'],
  ['transactions', 'write transactions: [web, other]'],
  ['metrics', `write metrics: [${presetNames.join(', ')}]`],
]);

/** How to write a text that stands in the place of a list or of an entry. */
function inList(key: string, text: string): string | undefined {
  if (text.includes('\n')) return 'remove the sign behind the colon, which makes a text of it';
  if (text === '' || text.length > longestQuoted.text) return undefined;
  const [ofText] = entryKeys.get(key) ?? [];
  if (isEvery.test(text) && everyOf.has(key)) return everyOf.get(key);
  if (ofText === undefined) return `write ${key}: [${JSON.stringify(text)}]`;
  const [, name, value] = /^(id|name|match|as|nrql):(\S.*)$/u.exec(text) ?? [];
  if (value !== undefined) return `write - ${name}: ${value}, with a blank behind the colon`;
  return `write - ${/^\d+$/u.test(text) ? 'id' : ofText}: ${JSON.stringify(text)}`;
}

/** How to write what stands in the place of a map that is no entry. */
function rightMap(key: string, value: unknown): string | undefined {
  if (key === 'poll' && !Array.isArray(value)) return writing('write poll: ', { interval: value });
  const map: PlainMap = Object.assign({}, ...[value].flat().map(mapFrom));
  return Object.keys(map).length === 0 ? undefined : writing(`write ${key}: `, map);
}

/** How to write what stands in the place of a list or a map. */
function rightCollection(key: string, isList: boolean, value: unknown): string | undefined {
  const ofEntry = entryKeys.has(key);
  if (typeof value === 'string' && (isList || ofEntry)) return inList(key, value);
  if (value === null) return everyOf.get(key) ?? 'write what belongs to it, or remove the key';
  if (isList) return isPlainMap(value) ? listFrom(key, value) : undefined;
  if (key === 'apps' && typeof value === 'number') return `write - id: ${value}`;
  return ofEntry ? undefined : rightMap(key, value);
}

/** How to write a flag, or whether hosts are polled. */
function rightFlag(key: string, { value, source }: Written): string | undefined {
  const [word, isOn] = /^(?:(true|yes|on|all|1)|false|no|off|none|0)$/iu.exec(source) ?? [];
  if (word !== undefined) return `write ${key}: ${isOn !== undefined}`;
  const [{ text } = { text: '' }] = key === 'exclude' ? textsIn(value) : [];
  if (text === '' || text.length > longestQuoted.text) return undefined;
  const entry = `- { match: ${JSON.stringify(text)}, exclude: true }`;
  return `write an entry of its own before this one: ${entry}`;
}

/** How to write texts that stand in the place of one: of several, only labels and helps can hold all. */
function rightText(path: Path, value: unknown): string | undefined {
  const texts = typeof value === 'object' ? textsIn(value).map(({ text }) => text) : [];
  const mayHoldAll =
    Array.isArray(value) && path.some((step) => /labels$|^help$/u.test(String(step)));
  if (texts.length === 0 || (texts.length > 1 && !mayHoldAll)) return undefined;
  const line = writing('', { [String(path.at(-1))]: texts.join(', ') });
  return line?.replace(/^\{ (.*) \}$/u, 'write $1');
}

/** How to write what has not the form that is wanted. */
function rightForm(document: YamlDocument, issue: Issue, found: Written): string | undefined {
  const { path } = issue;
  const { value } = found;
  const key = String(path.findLast((step) => typeof step === 'string'));
  const expected = issue.code === 'invalid_type' ? issue.expected : '';
  const isList = expected === 'array';
  if (isList || /^(?:record|object)$/u.test(expected)) return rightCollection(key, isList, value);
  const several = Array.isArray(value) ? severalOf(document, path, value) : undefined;
  if (several !== undefined) return several;
  if (expected === 'boolean' || key === 'hosts') return rightFlag(key, found);
  return expected === 'string' ? rightText(path, value) : undefined;
}

/** What there is instead of a word that is like none of those allowed. */
const otherwise: ReadonlyMap<PropertyKey | undefined, string> = new Map([
  ['region', 'for any other address write "base_url" in its place'],
  ['value', `the values are ${valueNames.join(', ')}`],
  ['as', 'write a name for the gauge, such as as: shop_errors'],
  ['metric', 'newrelic-exporter metrics APP lists the names'],
  ['name', 'write any name, such as name: production'],
  ['nrql', 'write the query, such as nrql: SELECT count(*) FROM Transaction'],
]);

/** How to write a number that has signs in it, or is a text; a factor may be a fraction. */
function numberFrom(text: string): number {
  const digits = /^\d{1,3}(?:[,_ ']\d{3})+$/u.test(text) ? text.replaceAll(/\D/gu, '') : text;
  const [, over, under = '1'] = /^([\d.]+)(?:\s*\/\s*([\d.]+))?$/u.exec(digits) ?? [];
  return Number(over) / Number(under);
}

/** How to write a number that is written as a text. */
function rightNumber(key: string, value: unknown): string | undefined {
  const isNumber = /^(?:scale|requests_per_minute|concurrency|max_series)$/u.test(key);
  const number = isNumber && typeof value === 'string' ? numberFrom(value) : 0;
  const isRight = key === 'scale' ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isRight && number > 0 ? `write ${key}: ${number}` : undefined;
}

/** How to write a metric that is no preset. */
function metricFrom(name: string): string | undefined {
  const metric = { metric: name, value: 'average_response_time', as: snakeCase(name) };
  return name.length > longestQuoted.text
    ? undefined
    : writing('for a metric of New Relic write - ', metric);
}

/** What there is instead of a word. */
function insteadOf(path: Path, value: unknown): string | undefined {
  const key = String(path.at(-1));
  // One account has one region.
  if (typeof value !== 'string') return isOfAccount.test(key) ? undefined : otherwise.get(key);
  if (path.at(-2) !== 'metrics') return otherwise.get(key);
  return isEvery.test(value) ? everyOf.get('metrics') : metricFrom(value);
}

function scalarHelp(issue: Issue, { value, source }: Written): string | undefined {
  // A password may look like a reference.
  const isSecret = issue.code === 'custom' && issue.params?.['isSecret'] === true;
  const ofVariable = typeof value === 'string' && !isSecret ? variableHelp(value) : undefined;
  if (ofVariable !== undefined) return ofVariable;
  if (issue.code === 'invalid_value') {
    const near = didYouMean(source, issue.values.map(String));
    return near ?? insteadOf(issue.path, value);
  }
  const number = rightNumber(String(issue.path.at(-1)), value);
  if (number !== undefined) return number;
  const isTextWanted = issue.code === 'invalid_type' && issue.expected === 'string';
  return isTextWanted && typeof value !== 'object' ? `put it in quotes: "${source}"` : undefined;
}

/** The part of a text that an issue is about. */
const textPart = z.object({ at: z.int(), length: z.int() });

function wrongValue(document: YamlDocument, issue: Issue, found: Written): FileProblem {
  const what = namesFound(issue) ? `${issue.message}, not ${describe(found)}` : issue.message;
  const message = `${subjectOf(issue.path)} ${what}`;
  const { data } = textPart.safeParse(issue.code === 'custom' ? issue.params?.['part'] : undefined);
  const right =
    data === undefined
      ? (scalarHelp(issue, found) ?? rightForm(document, issue, found))
      : undefined;
  const help = right ?? customHelp(issue);
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

function issueProblems(
  document: YamlDocument,
  issue: Issue,
  places: KeyPlaces,
  former: readonly FormerKey[],
): readonly FileProblem[] {
  if (issue.code === 'invalid_union') {
    return issuesOfAlternative(issue).flatMap((one) =>
      issueProblems(document, one, places, former),
    );
  }
  if (issue.code === 'unrecognized_keys') return unknownKeys(document, issue, places, former);
  if (issue.code === 'invalid_key') {
    const message = `${subjectOf(issue.path)} ${issue.issues[0]?.message ?? 'is not allowed'}`;
    const name = String(issue.path.at(-1));
    const valid = snakeCase(name);
    const right = labelProblem(valid, everyOwnLabel) === undefined ? valid : `newrelic_${valid}`;
    const help = valid === '' ? undefined : `did you mean "${right}"?`;
    return [errorAt(spanAt(document, issue.path, 'key'), message, help)];
  }
  const found = writtenAt(document, issue.path);
  if (found === undefined) return missingKey(document, issue.path);
  return [wrongValue(document, issue, found)];
}

/**
 * Turns the errors of a schema into problems with a place, in the words of the file.
 *
 * @param places where a key may belong that stands in the wrong map
 * @param former keys that there were once. Default: none
 */
export function shapeProblems(
  document: YamlDocument,
  error: z.ZodError | undefined,
  places: KeyPlaces,
  former: readonly FormerKey[] = [],
): readonly FileProblem[] {
  return (error?.issues ?? []).flatMap((issue) => issueProblems(document, issue, places, former));
}

/** Where a schema has found something. */
export function pathsOf(error: z.ZodError | undefined): readonly Path[] {
  return (error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...issue.path, key])
      : [issue.path],
  );
}
