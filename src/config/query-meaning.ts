import type { z } from 'zod';
import type { Query, QueryFacet, QueryGauge } from '../model/config.ts';
import { own } from '../model/own.ts';
import {
  bracketsIn,
  callOf,
  hasExactTotal,
  type NrqlItem,
  type NrqlText,
  readNrql,
  withoutQuotes,
} from './nrql-text.ts';
import { derivedLabelProblems, inlineMap, queryLabels, snakeCase } from './schema-fields.ts';
import { closest, didYouMean } from './suggestion.ts';
import { isPlainMap, type TextPart } from './yaml-document.ts';

/** What the NRQL of an entry of `queries` explains. */
interface WrittenQuery {
  readonly as: string | Readonly<Record<string, string>>;
  readonly nrql: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly constant_labels: Readonly<Record<string, string>>;
}

/** What it means: nobody else reads NRQL. */
export type QueryMeaning = Pick<
  Query,
  'written' | 'nrql' | 'added' | 'gauges' | 'facets' | 'mostRows' | 'eventTypes'
>;

type Refusal = readonly [
  key: keyof WrittenQuery,
  message: string,
  help: string,
  part?: TextPart | undefined,
];

/** The name of a lone function that the query gives none. */
const unnamed = 'gauge_value';

/** Rows that New Relic gives of FACET, without LIMIT and with LIMIT MAX. */
const usualRows = '10';
const maxRows = 5000;

/** Those of functions that name none. What others then give is not known. */
const usualPercentages = { percentile: [95], median: [50] };

/** Functions whose value is in the unit of what they are of. */
const ofAttribute =
  /^(?:average|percentile|median|min|max|latest|earliest|stddev) ?\( ?([^(),]+?) ?(?:,[^()]*)?\)$/iu;

/** What a function of NRQL gives in an answer. */
interface NrqlFunction {
  readonly gives: 'number' | 'percentiles' | 'apdex' | 'never';
  /** Whether a longer window gives more; of some, what they are of decides. */
  readonly grows: boolean | 'argument';
  /** What to write in place of one that never gives a number. */
  readonly instead: string;
}

type Row = readonly [string, NrqlFunction['gives'], NrqlFunction['grows'], instead?: string];

const rows: readonly Row[] = [
  ['count sum uniqueCount cardinality bytecountestimate', 'number', true],
  ['average min max latest earliest latestRate rate derivative predictLinear', 'number', false],
  ['percentage stddev stdvar correlation aggregationEndTime', 'number', false],
  [
    'filter if abs ceil floor round clamp_max clamp_min exp ln log log2 log10',
    'number',
    'argument',
  ],
  ['mod pow sqrt numeric boolean length getField getCdfCount convert jparse', 'number', 'argument'],
  ['position indexOf lookup accountId toTimestamp fromDatetime', 'number', 'argument'],
  ['minuteOf hourOf dayOfMonthOf weekOf quarterOf yearOf', 'number', 'argument'],
  ['percentile median bucketPercentile histogramPercentile', 'percentiles', false],
  ['apdex', 'apdex', false],
  ['histogram heatmap', 'never', false, 'percentile(...), or count(*) with FACET buckets(...)'],
  ['cdfPercentage', 'never', false, 'percentage(count(*), WHERE ...) for each threshold'],
  ['uniques tuple mapKeys mapValues', 'never', false, 'uniqueCount(...), or count(*) with FACET'],
  ['keyset dimensions', 'never', false, 'uniqueCount(...), or count(*) with FACET'],
  ['funnel', 'never', false, 'filter(uniqueCount(...), WHERE ...) for each step'],
  ['eventType', 'never', false, 'count(*) with FACET eventType()'],
  ['capture aparse', 'never', false, 'sum(numeric(...)), or count(*) with the text in FACET'],
  ['concat string lower upper substring', 'never', false, 'count(*) with the text in FACET'],
  ['encode decode blob cidrAddress', 'never', false, 'count(*) with the text in FACET'],
  ['toDatetime fromTimestamp dateOf monthOf', 'never', false, 'count(*) with the text in FACET'],
  ['weekdayOf', 'never', false, 'count(*) with the text in FACET'],
];

const functions: ReadonlyMap<string, NrqlFunction> = new Map(
  rows.flatMap(([names, gives, growing, instead = '']) =>
    names
      .split(' ')
      .map((name) => [name.toLowerCase(), { gives, grows: growing, instead }] as const),
  ),
);

/** What is not in the table is taken for a number, and to be safe for one that grows. */
function functionOf(name: string): NrqlFunction {
  return functions.get(name.toLowerCase()) ?? { gives: 'number', grows: true, instead: '' };
}

/** Reads the NRQL of an entry. What cannot become gauges is added to the issues. */
export function readQuery(written: WrittenQuery, context: z.core.$RefinementCtx): QueryMeaning {
  const read = readNrql(written.nrql);
  const labels = new Map(Object.entries(written.labels));
  const select = itemsOf(read, 'SELECT');
  const facet = itemsOf(read, 'FACET');
  const facets = facet.map((item) => facetOf(item, labels));
  const { as } = written;
  const chosen = typeof as === 'string' ? [[select[0]?.alias ?? unnamed, as]] : Object.entries(as);
  const gauges = chosen.map(([member = '', name = '']) => {
    return { name, member, item: select.find(({ alias }) => (alias ?? unnamed) === member) };
  });
  const refusals = [
    ...read.faults.map(({ message, help, ...part }): Refusal => ['nrql', message, help, part]),
    ...selectionRefusals(as, select),
    ...gauges.flatMap(({ item }) => noNumber(item)),
    ...(read.clauses.size === 0 ? [] : nameRefusals(written, select, facets)),
    ...labelRefusals(written, facet, facets),
  ];
  for (const [key, message, help, part] of refusals) {
    context.addIssue({ code: 'custom', message, path: [key], params: { help, part } });
  }
  const [limit] = itemsOf(read, 'LIMIT');
  return {
    written: written.nrql,
    ...namedIn(read.text, select),
    gauges: gauges.map(({ item, ...gauge }) => {
      const value = valueOf(item?.expression ?? '');
      return { ...gauge, ...value, lone: hasExactTotal(read) ? value.lone : undefined };
    }),
    facets,
    mostRows:
      facets.length === 0 ? 1 : Number.parseInt(limit?.expression ?? usualRows, 10) || maxRows,
    eventTypes: eventTypesOf(read),
  };
}

/** Beside other mistakes of an entry its NRQL is read, too, if they do not matter to it. */
export function readAmongMistakes(written: WrittenQuery, context: z.core.$RefinementCtx): void {
  const of = (key: string): boolean =>
    context.issues.some((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.some((one) => closest(one, [key]) !== undefined)
        : issue.path?.[0] === key,
    );
  if (!isPlainMap(written) || ['nrql', 'labels', 'constant_labels'].some(of)) return;
  readQuery(of('as') ? { ...written, as: {} } : written, context);
}

function itemsOf({ clauses }: NrqlText, words: string): readonly NrqlItem[] {
  return clauses.get(words)?.filter(({ length }) => length > 0) ?? [];
}

/** The text with a name for a lone function that has none. */
function namedIn(text: string, select: readonly NrqlItem[]): Pick<Query, 'nrql' | 'added'> {
  const [first, second] = select;
  if (first === undefined || first.alias !== undefined || second !== undefined) {
    return { nrql: text, added: undefined };
  }
  const at = first.at + first.length;
  const name = ` AS ${unnamed}`;
  return { nrql: text.slice(0, at) + name + text.slice(at), added: { at, length: name.length } };
}

function eventTypesOf(read: NrqlText): Query['eventTypes'] {
  const from = itemsOf(read, 'FROM');
  const isJoined = [...read.clauses.keys()].some((words) => words.endsWith('JOIN'));
  const isPlain = !isJoined && from.every(({ isName }) => isName);
  return isPlain ? from.map(({ expression }) => withoutQuotes(expression)) : [];
}

/** The label of cases, or of a function of an attribute, is short. */
function facetOf(item: NrqlItem, labels: ReadonlyMap<string, string>): QueryFacet {
  const { alias, expression, isName } = item;
  const name = alias ?? withoutQuotes(expression);
  const call = callOf(alias === undefined ? expression : '');
  const attribute = call.parts.find((of) => /^[\p{L}`][^('"]*$/u.test(of)) ?? '';
  const short = call.name === '' ? name : `${attribute} ${call.name}`;
  const usual = /^cases *\(/iu.test(name) ? 'cases' : snakeCase(short);
  const isAttribute = isName && alias === undefined;
  const isCases = /^cases *\(/iu.test(expression);
  return { name, label: labels.get(name) ?? usual, isAttribute, isCases };
}

/** What an expression gives, by what it calls. */
function valueOf(expression: string): Omit<QueryGauge, 'name' | 'member'> {
  const text = withoutQuotes(expression);
  const { name, parts, element } = callOf(expression);
  const { gives } = functionOf(element === '' ? name : '');
  const usual = own(usualPercentages, name.toLowerCase()) ?? [];
  const percentages = parts.length > 1 ? parts.slice(1).map(Number) : usual;
  return {
    unit: ofAttribute.exec(text)?.[1] ?? text,
    gives: gives === 'never' ? 'number' : gives,
    percentages: gives === 'percentiles' ? [...new Set(percentages.filter(Number.isFinite))] : [],
    growsWithWindow: grows(expression),
    lone:
      element === '' && expression.startsWith(name)
        ? own(loneFunctions, name.toLowerCase())
        : undefined,
  };
}

/** Those whose rows make up a total, by their names in small letters. */
const loneFunctions = { count: 'count', sum: 'sum', uniquecount: 'uniqueCount' } as const;

/** Whether a longer window gives more: if anything in it does that is not within an average. */
function grows(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => {
    const known = name === '' ? 'argument' : functionOf(name).grows;
    return known === 'argument' ? grows(of) : known;
  });
}

function callsFunction(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => name !== '' || callsFunction(of));
}

function* selectionRefusals(
  as: WrittenQuery['as'],
  select: readonly NrqlItem[],
): Iterable<Refusal> {
  const other = select.find(({ expression }) => !callsFunction(expression));
  if (other !== undefined) {
    const { expression, isName } = other;
    const help = `write functions, such as ${isName ? `latest(${expression})` : 'count(*)'}`;
    yield ['nrql', `must select functions and nothing else: ${expression} is none`, help, other];
  } else if (typeof as === 'string' && select.length > 1) {
    const kept = select.map(({ alias }, at) => alias ?? `name${at + 1}`);
    // YAML's reader refuses that key.
    const mayStay = new Set(kept).size === kept.length && !kept.includes('__proto__');
    const names = mayStay ? kept : kept.map((_, at) => `name${at + 1}`);
    const map = names.map((name, at) => [name, `${as}_${at + 1}`] as const);
    const isNamed = select.every(({ alias }, at) => alias === names[at]);
    const first = isNamed ? '' : `name each with AS, such as ${names.join(' and ')}, and `;
    const help = `${first}write ${inlineMap('as', map)}`;
    yield ['as', `must be a map: the query selects ${select.length} functions`, help];
  }
}

/** Why an expression gives no number, and what to write. */
function noNumber(item: NrqlItem | undefined): readonly Refusal[] {
  const { name, parts, element } = callOf(item?.expression ?? '');
  const { gives, instead } = functionOf(name);
  if (gives === 'never' && element === '') {
    return [['nrql', `selects ${name}, which gives no number`, `write ${instead}`, item]];
  }
  if (gives !== 'percentiles' || element === '') return [];
  const percentage = Number(/[\d.]+/u.exec(element)?.[0] ?? 95);
  const call = `${name.replace(/^median$/iu, 'percentile')}(${parts[0]}, ${percentage})`;
  const quantile = Number((percentage / 100).toPrecision(9));
  const message = 'selects an element of percentiles, which New Relic answers without its name';
  const help = `write ${call}: its series has the label quantile="${quantile}"`;
  return [['nrql', message, help, item]];
}

function* nameRefusals(
  { as, labels }: WrittenQuery,
  select: readonly NrqlItem[],
  facets: readonly QueryFacet[],
): Iterable<Refusal> {
  const aliases = select.flatMap(({ alias }) => alias ?? []);
  const names = facets.map(({ name }) => name);
  const twice = [...aliases, ...names].find((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined) {
    yield ['nrql', `has the name "${twice}" twice`, 'keep one, or name it otherwise with AS'];
  }
  const listed = names.length === 0 ? 'it has no FACET' : `its facets are ${names.join(', ')}`;
  const uses = [
    ['as', 'function', typeof as === 'string' ? {} : as, aliases, 'name a function with AS'],
    ['labels', 'facet', labels, names, listed],
  ] as const;
  for (const [key, what, map, known, help] of uses) {
    for (const name of Object.keys(map).filter((one) => !known.includes(one))) {
      const message = `has "${name}", and no ${what} of the query has that name`;
      yield [key, message, didYouMean(name, known) ?? help];
    }
  }
}

function* labelRefusals(
  { labels, constant_labels: constant }: WrittenQuery,
  facet: readonly NrqlItem[],
  facets: readonly QueryFacet[],
): Iterable<Refusal> {
  const labelled = facets.map(({ name, label }) => [name, label] as const);
  const others = Object.keys(constant).map((label) => [label, 'in "constant_labels"'] as const);
  const beside = { key: 'labels', kept: labels, others, own: queryLabels };
  for (const { index, message, help, proposal } of derivedLabelProblems(labelled, beside)) {
    const { isAttribute, name } = facets[index] ?? {};
    // That is another mistake, and no other label mends it.
    if (facets.findIndex((one) => one.name === name) < index) continue;
    const isNamed = isAttribute === true || name === facet[index]?.alias;
    yield ['nrql', message, isNamed ? help : `write AS ${proposal} behind it`, facet[index]];
  }
}
