import type { z } from 'zod';
import type { Query, QueryFacet, QueryGauge } from '../model/config.ts';
import { derivedLabelProblems, inlineMap, queryLabels, snakeCase } from './label-fields.ts';
import { functionOf } from './nrql-functions.ts';
import {
  bracketsIn,
  callOf,
  type NrqlCall,
  type NrqlItem,
  type NrqlText,
  readNrql,
  type TextPart,
  withoutQuotes,
} from './nrql-text.ts';
import { didYouMean } from './suggestion.ts';

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

/** The exporter asks for one window, and says which. */
const timeRange = ['SINCE', 'UNTIL', 'COMPARE WITH'];
const timeRangeHelp =
  'leave it out: "window" and "delay" set the time range, and PromQL compares with "offset"';

/** The name of a lone function that the query gives none. */
const unnamed = 'gauge_value';

/** What New Relic gives without LIMIT, and with LIMIT MAX. */
const usualRows = 10;
const maxRows = 5000;

const usualPercentages: ReadonlyMap<string, readonly number[]> = new Map([
  ['percentile', [95]],
  ['median', [50]],
]);

/** Functions whose value is in the unit of what they are of. */
const ofAttribute =
  /^(?:average|percentile|median|min|max|latest|earliest|stddev) ?\( ?([^(),]+?) ?(?:,[^()]*)?\)$/iu;

/** Reads the NRQL of an entry. What cannot become gauges is added to the issues. */
export function readQuery(written: WrittenQuery, context: z.core.$RefinementCtx): QueryMeaning {
  const read = readNrql(written.nrql);
  const { text, clauses } = read;
  const functions = itemsOf(read, 'SELECT');
  const own = new Map(Object.entries(written.labels));
  const facets = itemsOf(read, 'FACET').map((item) => facetOf(item, own));
  const [first] = functions;
  const chosen =
    typeof written.as === 'string'
      ? [[first?.alias ?? unnamed, written.as] as const]
      : Object.entries(written.as);
  const meant = chosen.map(([member, name]) => {
    const item = functions.find(({ alias }) => (alias ?? unnamed) === member);
    return { item, name, member, value: valueOf(item?.expression ?? '') };
  });
  for (const [key, message, help, part] of refusalsOf(written, read, facets, meant)) {
    context.addIssue({ code: 'custom', message, path: [key], params: { help, part } });
  }
  const at = first !== undefined && first.alias === undefined ? first.at + first.length : undefined;
  const added =
    at === undefined || functions.length > 1 ? undefined : { at, text: ` AS ${unnamed}` };
  const limit = /^\d+/u.exec(clauses.get('LIMIT')?.items[0]?.expression ?? '')?.[0];
  const rows = clauses.has('LIMIT') ? Number(limit ?? maxRows) : usualRows;
  const from = itemsOf(read, 'FROM');
  const isPlain = from.every(({ isName }) => isName) && ![...clauses.keys()].some(isJoin);
  return {
    written: written.nrql,
    nrql: added === undefined ? text : text.slice(0, at) + added.text + text.slice(added.at),
    added: added && { at: added.at, length: added.text.length },
    gauges: meant.map(({ name, member, value: { refusal: _, ...value } }) => ({
      name,
      member,
      ...value,
    })),
    facets,
    mostRows: facets.length === 0 ? 1 : rows,
    eventTypes: isPlain ? from.map(({ expression }) => withoutQuotes(expression)) : [],
  };
}

function itemsOf({ clauses }: NrqlText, words: string): readonly NrqlItem[] {
  return clauses.get(words)?.items ?? [];
}

function isJoin(words: string): boolean {
  return words.endsWith('JOIN');
}

function facetOf(item: NrqlItem, labels: ReadonlyMap<string, string>): QueryFacet {
  const { alias, expression, isName } = item;
  const name = alias ?? withoutQuotes(expression);
  const label = labels.get(name) ?? (alias === undefined ? labelOf(item) : snakeCase(alias));
  return { name, label, isAttribute: isName && alias === undefined };
}

/** A short label of what an entry groups by: its cases, or a function of an attribute. */
function labelOf({ expression, isName }: NrqlItem): string {
  if (/^cases *\(/iu.test(expression)) return 'cases';
  const call = isName ? undefined : callOf(expression);
  if (call === undefined) return snakeCase(withoutQuotes(expression));
  const [attribute = ''] = call.arguments.filter((of) => /^[\p{L}`][^('"]*$/u.test(of));
  return snakeCase(`${attribute} ${call.name}`);
}

interface Value extends Omit<QueryGauge, 'name' | 'member'> {
  readonly refusal?: readonly [message: string, help: string];
}

/** What a selected expression gives, by what it calls. */
function valueOf(expression: string): Value {
  const text = withoutQuotes(expression);
  const unit = ofAttribute.exec(text)?.[1] ?? text;
  const number = {
    unit,
    gives: 'number',
    percentages: [],
    growsWithWindow: grows(expression),
  } as const;
  const call = callOf(expression);
  if (call === undefined) return number;
  const [of = '', ...others] = call.arguments;
  const name = call.name.toLowerCase();
  if (name === 'filter') return { ...valueOf(of), unit };
  const [compound, element] = name === 'getfield' ? [callOf(of), others[0]] : [call, call.element];
  if (compound !== undefined && element !== undefined && element !== '') {
    const refusal = elementRefusal(compound, element);
    return refusal === undefined ? number : { ...number, refusal };
  }
  const { gives, instead = '' } = functionOf(name);
  if (gives === 'never') {
    return {
      ...number,
      refusal: [`selects ${call.name}, which gives no number`, `write ${instead}`],
    };
  }
  if (gives !== 'percentiles') return { ...number, gives };
  const given = others.map(Number).filter(Number.isFinite);
  const percentages = given.length > 0 ? given : (usualPercentages.get(name) ?? []);
  return { ...number, gives, percentages };
}

/** New Relic gives it under another name than the one that was asked for. */
function elementRefusal(
  { name, arguments: [of = ''] }: NrqlCall,
  element: string,
): Value['refusal'] {
  if (functionOf(name).gives !== 'percentiles') return undefined;
  const percentage = Number(/\d+(?:\.\d+)?/u.exec(element)?.[0] ?? 95);
  const quantile = Number((percentage / 100).toPrecision(12));
  const call = `${/^median$/iu.test(name) ? 'percentile' : name}(${of}, ${percentage})`;
  const help = `write ${call}: its series has the label quantile="${quantile}"`;
  return ['selects an element of percentiles, which New Relic answers without the name', help];
}

/** Whether a longer window gives more: if anything in it does that is not within an average. */
function grows(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => {
    const own = name === '' ? 'argument' : functionOf(name).grows;
    return own === 'argument' ? grows(of) : own;
  });
}

function callsFunction(expression: string): boolean {
  return bracketsIn(expression).some(([name, of]) => name !== '' || callsFunction(of));
}

function* refusalsOf(
  written: WrittenQuery,
  read: NrqlText,
  facets: readonly QueryFacet[],
  chosen: readonly { readonly item: NrqlItem | undefined; readonly value: Value }[],
): Iterable<Refusal> {
  for (const { message, help, ...part } of read.faults) yield ['nrql', message, help, part];
  if (read.isBroken) return;
  yield* timeRangeRefusals(read);
  yield* selectionRefusals(read);
  for (const { item, value } of chosen) {
    if (value.refusal !== undefined) yield ['nrql', ...value.refusal, item];
  }
  yield* nameRefusals(written, read, facets);
  const labelled = facets.map(({ name, label }) => [name, label] as const);
  const others = Object.keys(written.constant_labels);
  const derived = { key: 'labels', kept: written.labels, labelled, others, own: queryLabels };
  for (const { index, message, help, proposal } of derivedLabelProblems(derived)) {
    const item = itemsOf(read, 'FACET')[index];
    const isNamed = item === undefined || item.isName || item.alias !== undefined;
    yield ['nrql', message, isNamed ? help : `write "AS ${proposal}" behind it`, item];
  }
}

/** A query in FROM has the time range of the whole; one in WHERE may have its own. */
function* timeRangeRefusals(read: NrqlText, offset?: number): Iterable<Refusal> {
  const why =
    offset === undefined
      ? 'a gauge has one value, and the exporter adds the time range'
      : 'New Relic takes one time range for the whole query, which the exporter adds';
  for (const words of offset === undefined ? [...timeRange, 'TIMESERIES'] : timeRange) {
    const { at, length } = read.clauses.get(words) ?? {};
    if (at === undefined || length === undefined) continue;
    const part = { at: at + (offset ?? 0), length };
    yield ['nrql', `must not have ${words}: ${why}`, timeRangeHelp, part];
  }
  for (const { at, expression } of itemsOf(read, 'FROM')) {
    if (!expression.startsWith('(')) continue;
    yield* timeRangeRefusals(readNrql(expression.slice(1, -1)), (offset ?? 0) + at + 1);
  }
}

function* selectionRefusals(read: NrqlText): Iterable<Refusal> {
  if (!read.clauses.has('FROM'))
    yield ['nrql', 'has no FROM', 'name the data, such as FROM Transaction'];
  const other = noFunctionOf(read);
  const help = 'write SELECT with functions, such as count(*) or average(duration)';
  const message = 'must select functions and nothing else: only a number can become a gauge';
  if (!read.clauses.has('SELECT')) yield ['nrql', message, help];
  if (other === undefined) return;
  const { expression, isName } = other;
  const remedy = isName ? `write a function of it, such as latest(${expression})` : help;
  yield ['nrql', `must select functions and nothing else: ${expression} is none`, remedy, other];
}

/** The first thing that is selected and calls no function, such as an attribute. */
function noFunctionOf(read: NrqlText): NrqlItem | undefined {
  return itemsOf(read, 'SELECT').find((one) => one.length > 0 && !callsFunction(one.expression));
}

function* nameRefusals(
  { as, labels }: WrittenQuery,
  read: NrqlText,
  facets: readonly QueryFacet[],
): Iterable<Refusal> {
  const functions = itemsOf(read, 'SELECT');
  const named = functions.filter(({ alias }) => alias !== undefined);
  const aliases = named.flatMap(({ alias }) => alias ?? []);
  const names = facets.map(({ name }) => name);
  const all = [...aliases, ...names];
  const again = all.findIndex((name, at) => all.indexOf(name) !== at);
  if (again !== -1) {
    const item = [...named, ...itemsOf(read, 'FACET')][again];
    yield ['nrql', `has the name "${all[again]}" twice`, 'choose another name after AS', item];
  }
  const isText = typeof as === 'string';
  if (isText && functions.length > 1 && noFunctionOf(read) === undefined) {
    const map = functions.map(
      ({ alias }, at) => [alias ?? `name${at + 1}`, `${as}_${at + 1}`] as const,
    );
    const isNamed = named.length === functions.length;
    const help = `${isNamed ? '' : 'name each with AS, and '}write ${inlineMap('as', map)}`;
    yield ['as', `must be a map: the query selects ${functions.length} functions`, help];
  }
  const listed = names.length === 0 ? 'it has no FACET' : `its facets are ${names.join(', ')}`;
  const uses = [
    ['as', 'function', isText ? {} : as, aliases, 'name a function with AS'],
    ['labels', 'facet', labels, names, listed],
  ] as const;
  for (const [key, what, map, known, help] of uses) {
    for (const name of Object.keys(map).filter((one) => !known.includes(one))) {
      const message = `has "${name}", and no ${what} of the query has that name`;
      yield [key, message, didYouMean(name, known) ?? help];
    }
  }
}
