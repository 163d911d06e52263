import type { z } from 'zod';
import { labelNameProblem, queryLabels, snakeCase } from './label-fields.ts';
import { type NrqlItem, type NrqlText, readNrql } from './nrql-text.ts';
import { didYouMean } from './suggestion.ts';

/** What an entry of `queries` says, as far as it depends on its NRQL. */
export interface WrittenQuery {
  /** The gauge, or several by the names that the query gives its functions. */
  readonly as: string | Readonly<Record<string, string>>;
  readonly nrql: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly constant_labels: Readonly<Record<string, string>>;
}

/** What it means: nobody else reads NRQL. */
export interface QueryMeaning {
  /** On one line, and each function has a name. */
  readonly nrql: string;
  /** Each with the member of a row that has its value, and what that counts or measures. */
  readonly gauges: readonly {
    readonly name: string;
    readonly member: string;
    readonly unit: string;
  }[];
  /** In the order of the query, with the labels that they become. */
  readonly facets: readonly { readonly name: string; readonly label: string }[];
}

type Refusal = readonly [key: keyof WrittenQuery, message: string, help: string];

const timeRange = [
  'the exporter adds the time range itself',
  'write "window" and "delay"',
] as const;
const oneValue = [
  'a gauge has one value at a time',
  'leave it out: Prometheus keeps the history, and PromQL compares with "offset"',
] as const;
const refusedClauses = [
  ['SINCE', ...timeRange],
  ['UNTIL', ...timeRange],
  ['TIMESERIES', ...oneValue],
  ['COMPARE WITH', ...oneValue],
] as const;

/** The name of a lone function that the query gives none. */
const unnamed = 'gauge_value';

/** Functions whose value is in the unit of what they are of. */
const ofAttribute =
  /^(?:average|percentile|median|min|max|latest|earliest|stddev) ?\( ?([^(),]+?) ?(?:,[^()]*)?\)$/iu;

/** Reads the NRQL of an entry. What cannot become gauges is added to the issues. */
export function readQuery(written: WrittenQuery, context: z.core.$RefinementCtx): QueryMeaning {
  const { as, labels } = written;
  const { text, clauses } = readNrql(written.nrql);
  const functions = clauses.get('SELECT') ?? [];
  const facets = (clauses.get('FACET') ?? []).map(({ alias, expression }) => {
    const name = alias ?? expression;
    return { name, label: labels[name] ?? snakeCase(name) };
  });
  const read = { ...written, functions, facets };
  const refusals = [...clauseRefusals(clauses), ...nameRefusals(read), ...labelRefusals(read)];
  for (const [key, message, help] of refusals) {
    context.addIssue({ code: 'custom', message, path: [key], params: { help } });
  }
  const [{ alias = unnamed, end = 0 } = {}] = functions;
  const isNamed = functions.length !== 1 || functions[0]?.alias !== undefined;
  const gauges = Object.entries(typeof as === 'string' ? { [alias]: as } : as);
  return {
    nrql: isNamed ? text : `${text.slice(0, end)} AS ${unnamed}${text.slice(end)}`,
    gauges: gauges.map(([member, name]) => {
      const { expression = '' } = functions.find((one) => (one.alias ?? unnamed) === member) ?? {};
      return { name, member, unit: ofAttribute.exec(expression)?.[1] ?? expression };
    }),
    facets,
  };
}

function* clauseRefusals(clauses: NrqlText['clauses']): Iterable<Refusal> {
  for (const [clause, why, help] of refusedClauses) {
    const [word = ''] = clause.split(' ');
    if (clauses.has(word)) yield ['nrql', `must not have ${clause}: ${why}`, help];
  }
  if (!clauses.has('FROM'))
    yield ['nrql', 'has no FROM', 'name the data, such as FROM Transaction'];
  if (clauses.get('SELECT')?.every(({ callsFunction }) => callsFunction) !== true) {
    const message = 'must select functions and nothing else: only a number can become a gauge';
    yield ['nrql', message, 'write SELECT with functions, such as count(*) or average(duration)'];
  }
}

interface ReadQuery extends WrittenQuery, Pick<QueryMeaning, 'facets'> {
  readonly functions: readonly NrqlItem[];
}

function* nameRefusals({ as, functions, facets }: ReadQuery): Iterable<Refusal> {
  const aliases = functions.flatMap(({ alias }) => alias ?? []);
  const names = [...aliases, ...facets.map(({ name }) => name)];
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    yield ['nrql', `has the name "${twice}" twice`, 'choose another name after AS'];
  }
  if (typeof as === 'string') {
    const list = functions.map(({ alias }, at) => `${alias ?? `name${at + 1}`}: ${as}_${at + 1}`);
    const help = `name each with AS, and write as: { ${list.join(', ')} }`;
    const message = `must be a map: the query selects ${list.length} functions`;
    if (list.length > 1) yield ['as', message, help];
    return;
  }
  for (const member of Object.keys(as)) {
    if (aliases.includes(member)) continue;
    const help = didYouMean(member, aliases) ?? `write "AS ${member}" behind the function`;
    yield ['as', `has "${member}", and no function of the query has that name`, help];
  }
}

function* labelRefusals({ labels, constant_labels, facets }: ReadQuery): Iterable<Refusal> {
  const names = facets.map(({ name }) => name);
  for (const facet of Object.keys(labels)) {
    if (names.includes(facet)) continue;
    const known = names.length === 0 ? 'it has no FACET' : `its facets are ${names.join(', ')}`;
    const help = didYouMean(facet, names) ?? known;
    yield ['labels', `has "${facet}", which is no facet of the query`, help];
  }
  const taken = new Set(Object.keys(constant_labels));
  for (const { name, label } of facets) {
    const problem = taken.has(label) ? 'is there twice' : labelNameProblem(label, queryLabels);
    taken.add(label);
    const help = `write labels: { ${JSON.stringify(name)}: newrelic_${snakeCase(name)} }`;
    const message = `has the facet "${name}", and its label "${label}" ${problem}`;
    if (problem !== undefined) yield ['nrql', message, help];
  }
}
