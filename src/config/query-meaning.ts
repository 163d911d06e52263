import type { z } from 'zod';
import type { Query, QueryFacet, QueryGauge } from '../model/config.ts';
import { own } from '../model/own.ts';
import { queryLabels } from '../model/own-names.ts';
import {
  bracketsIn,
  callOf,
  hasExactTotal,
  type NrqlItem,
  type NrqlText,
  readNrql,
  withoutQuotes,
} from './nrql-text.ts';
import { derivedLabelProblems, inlineMap, snakeCase } from './schema-fields.ts';
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

type Items = readonly NrqlItem[];

type Refusal = readonly [key: keyof WrittenQuery, message: string, help: string, at?: TextPart];

/** The name of a lone function that the query gives none. */
const unnamed = 'gauge_value';

/** Rows that New Relic gives of FACET, without LIMIT and with LIMIT MAX. */
const usualRows = '10';
const mostRowsOfQuery = 5000;

/** Those of functions that name none. What others then give is not known. */
const usualPercentages = { percentile: [95], median: [50] };

/** Functions by their names in small letters. */
function functions(names: string): ReadonlySet<string> {
  return new Set(names.toLowerCase().split(' '));
}

const inUnitOfArgument = functions('average percentile median min max latest earliest stddev');
const ofPercentiles = functions('percentile median bucketPercentile histogramPercentile');
/** A longer window gives no more. Those that are in no list are taken for some of which it gives more. */
const steady = functions(
  'average min max latest earliest latestRate rate derivative predictLinear percentage stddev stdvar correlation aggregationEndTime apdex percentile median bucketPercentile histogramPercentile',
);
/** What they are of decides that. */
const steadyAsArgument = functions(
  'filter if abs ceil floor round clamp_max clamp_min exp ln log log2 log10 mod pow sqrt numeric boolean length getField getCdfCount convert jparse',
);
/** What to write instead of those that never give a number. */
const noNumbers: ReadonlyMap<string, string> = new Map(
  [
    ['histogram heatmap', 'percentile(...), or count(*) with FACET buckets(...)'],
    ['cdfPercentage', 'percentage(count(*), WHERE ...) for each threshold'],
    ['uniques tuple mapKeys mapValues', 'uniqueCount(...), or count(*) with FACET'],
    ['keyset dimensions', 'uniqueCount(...), or count(*) with FACET'],
    ['funnel', 'filter(uniqueCount(...), WHERE ...) for each step'],
    ['eventType', 'count(*) with FACET eventType()'],
    ['capture aparse', 'sum(numeric(...)), or count(*) with the text in FACET'],
    ['concat string lower upper substring encode decode', 'count(*) with the text in FACET'],
    ['blob cidrAddress toDatetime fromTimestamp dateOf', 'count(*) with the text in FACET'],
    ['monthOf weekdayOf', 'count(*) with the text in FACET'],
  ].flatMap(([names = '', help = '']) => [...functions(names)].map((name) => [name, help])),
);

/** Reads the NRQL of an entry. What cannot become gauges is added to the issues. */
export function readQuery(written: WrittenQuery, context: z.core.$RefinementCtx): QueryMeaning {
  const read = readNrql(written.nrql);
  const itemsOf = (words: string): Items => read.clauses.get(words) ?? [];
  const labels = new Map(Object.entries(written.labels));
  const select = itemsOf('SELECT');
  const facet = itemsOf('FACET');
  const facets = facet.map((item) => facetOf(item, labels));
  const [limit] = itemsOf('LIMIT');
  const { as } = written;
  const chosen = typeof as === 'string' ? [[select[0]?.alias ?? unnamed, as]] : Object.entries(as);
  const gauges = chosen.map(([member = '', name = '']) => {
    return { name, member, item: select.find(({ alias }) => (alias ?? unnamed) === member) };
  });
  const refusals = [
    ...read.faults.map(({ message, help, ...part }): Refusal => ['nrql', message, help, part]),
    ...selectionRefusals(as, select, itemsOf('FROM')),
    ...gauges.flatMap(({ item }) => (item === undefined ? [] : noNumber(item))),
    ...(read.clauses.size === 0 ? [] : nameRefusals(written, select, facets)),
    ...labelRefusals(written, facet, facets),
  ];
  for (const [key, message, help, part] of refusals) {
    context.addIssue({ code: 'custom', message, path: [key], params: { help, part } });
  }
  return {
    written: written.nrql,
    ...namedIn(read.text, select),
    gauges: gauges.map(({ item, ...gauge }) => {
      const value = gaugeValueOf(item?.expression ?? '');
      return { ...gauge, ...value, lone: hasExactTotal(read) ? value.lone : undefined };
    }),
    facets,
    mostRows:
      facets.length === 0
        ? 1
        : Number.parseInt(limit?.expression ?? usualRows, 10) || mostRowsOfQuery,
    eventTypes: namedEventTypes(read),
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

/** The text with a name for a lone function that has none. */
function namedIn(text: string, select: Items): Pick<Query, 'nrql' | 'added'> {
  const [first, second] = select;
  if (first === undefined || first.alias !== undefined || second !== undefined) {
    return { nrql: text, added: undefined };
  }
  const at = first.at + first.length;
  const name = ` AS ${unnamed}`;
  return { nrql: text.slice(0, at) + name + text.slice(at), added: { at, length: name.length } };
}

function namedEventTypes({ clauses }: NrqlText): Query['eventTypes'] {
  const from = clauses.get('FROM') ?? [];
  const isJoined = [...clauses.keys()].some((words) => words.endsWith('JOIN'));
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
function gaugeValueOf(expression: string): Omit<QueryGauge, 'name' | 'member'> {
  const { name, parts, element, isAll } = callOf(expression);
  const called = element === '' ? name.toLowerCase() : '';
  const [of = '', ...stated] = parts;
  const percentages =
    stated.length > 0 ? stated.map(Number) : (own(usualPercentages, called) ?? []);
  const isOfPercentiles = ofPercentiles.has(called);
  return {
    unit: withoutQuotes(inUnitOfArgument.has(called) ? of : expression),
    gives: isOfPercentiles ? 'percentiles' : called === 'apdex' ? 'apdex' : 'number',
    percentages: isOfPercentiles ? [...new Set(percentages.filter(Number.isFinite))] : [],
    growsWithWindow: grows(expression),
    lone: isAll ? own(loneFunctions, called) : undefined,
  };
}

/** Those whose rows make up a total, by their names in small letters. */
const loneFunctions = { count: 'count', sum: 'sum', uniquecount: 'uniqueCount' } as const;

/** Whether a longer window gives more: if anything in it does that is not within an average. */
function grows(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => {
    const called = name.toLowerCase();
    if (called === '' || steadyAsArgument.has(called)) return grows(of);
    return !steady.has(called) && !noNumbers.has(called);
  });
}

function callsFunction(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => name !== '' || callsFunction(of));
}

/** A number or a text, perhaps calculated. */
const constants = /^(?:[\d\s.+*/()-]*\d[\d\s.+*/()-]*|'[^']*'|"[^"]*")$/u;

function* selectionRefusals(as: WrittenQuery['as'], select: Items, from: Items): Iterable<Refusal> {
  const other = select.find(({ expression, alias = '' }) => {
    const isGauge = typeof as === 'string' || Object.hasOwn(as, alias);
    return !callsFunction(expression) && (isGauge || !constants.test(expression));
  });
  if (other !== undefined) {
    const help = otherExpression(other, select, from);
    const message = `must select functions and nothing else: ${other.expression} is none`;
    yield ['nrql', message, help, other];
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

/** What to select instead of what is no function. */
function otherExpression({ expression, isName }: NrqlItem, select: Items, from: Items): string {
  const isList = select.length > 1 && [...select, ...from].every((item) => item.isName);
  const types = from.map((item) => item.expression).join(', ');
  if (isList) return `write functions, such as SELECT count(*) FROM ${types} FACET ${expression}`;
  if (isName) return `write functions, such as latest(${expression})`;
  const isBeside =
    constants.test(expression) && select.some((item) => callsFunction(item.expression));
  return isBeside ? 'leave out the constant' : 'write functions, such as count(*)';
}

/** Why an expression gives no number, and what to write. */
function noNumber(item: NrqlItem): readonly Refusal[] {
  const { name, parts, element } = callOf(item.expression);
  const called = name.toLowerCase();
  const instead = element === '' ? noNumbers.get(called) : undefined;
  if (instead !== undefined) {
    return [['nrql', `selects ${name}, which gives no number`, `write ${instead}`, item]];
  }
  if (!ofPercentiles.has(called) || element === '') return [];
  const percentage = Number(/[\d.]+/u.exec(element)?.[0] ?? 95);
  const call = `${name.replace(/^median$/iu, 'percentile')}(${parts[0]}, ${percentage})`;
  const quantile = Number((percentage / 100).toPrecision(9));
  const message = 'selects an element of percentiles, which New Relic answers without its name';
  const help = `write ${call}: its series has the label quantile="${quantile}"`;
  return [['nrql', message, help, item]];
}

function* nameRefusals(
  { as, labels }: WrittenQuery,
  select: Items,
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
  facet: Items,
  facets: readonly QueryFacet[],
): Iterable<Refusal> {
  const labelled = facets.map(({ name, label }) => [name, label] as const);
  const others = Object.keys(constant).map((label) => [label, 'in "constant_labels"'] as const);
  const beside = { key: 'labels', kept: labels, others, own: queryLabels };
  for (const { index, message, help, proposal } of derivedLabelProblems(labelled, beside)) {
    const item = facet[index];
    const { isAttribute, name } = facets[index] ?? {};
    // What is there twice is another mistake, and no other label mends it.
    if (item === undefined || facets.findIndex((one) => one.name === name) < index) continue;
    const isNamed = isAttribute === true || name === item.alias;
    yield ['nrql', message, isNamed ? help : `write AS ${proposal} behind it`, item];
  }
}
