import type { z } from 'zod';
import type { Query } from '../model/config.ts';
import { derivedLabelProblem, queryLabels, snakeCase } from './label-fields.ts';
import { type NrqlText, readNrql } from './nrql-text.ts';
import { didYouMean } from './suggestion.ts';

/** What the NRQL of an entry of `queries` explains. */
interface WrittenQuery {
  readonly as: string | Readonly<Record<string, string>>;
  readonly nrql: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly constant_labels: Readonly<Record<string, string>>;
}

/** What it means: nobody else reads NRQL. */
export type QueryMeaning = Pick<Query, 'nrql' | 'gauges' | 'facets'>;

type Refusal = readonly [key: keyof WrittenQuery, message: string, help: string];

const timeRange = [
  'the exporter adds the time range itself',
  'write "window" and "delay"',
] as const;
const oneValue = [
  'a gauge has one value at a time',
  'leave it out: Prometheus keeps the history, and PromQL compares with "offset"',
] as const;
const refusedClauses = {
  SINCE: timeRange,
  UNTIL: timeRange,
  TIMESERIES: oneValue,
  'COMPARE WITH': oneValue,
};

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
  for (const [key, message, help] of refusalsOf(written, clauses, facets)) {
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

function* refusalsOf(
  { as, labels, constant_labels }: WrittenQuery,
  clauses: NrqlText['clauses'],
  facets: QueryMeaning['facets'],
): Iterable<Refusal> {
  for (const [clause, [why, help]] of Object.entries(refusedClauses)) {
    if (clauses.has(clause)) yield ['nrql', `must not have ${clause}: ${why}`, help];
  }
  if (!clauses.has('FROM'))
    yield ['nrql', 'has no FROM', 'name the data, such as FROM Transaction'];
  const functions = clauses.get('SELECT') ?? [];
  if (functions.length === 0 || !functions.every(({ callsFunction }) => callsFunction)) {
    const message = 'must select functions and nothing else: only a number can become a gauge';
    yield ['nrql', message, 'write SELECT with functions, such as count(*) or average(duration)'];
  }
  const aliases = functions.flatMap(({ alias }) => alias ?? []);
  const names = facets.map(({ name }) => name);
  const twice = [...aliases, ...names].find((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined) {
    yield ['nrql', `has the name "${twice}" twice`, 'choose another name after AS'];
  }
  if (typeof as === 'string' && functions.length > 1) {
    const list = functions.map(({ alias }, at) => `${alias ?? `name${at + 1}`}: ${as}_${at + 1}`);
    const help = `name each with AS, and write as: { ${list.join(', ')} }`;
    yield ['as', `must be a map: the query selects ${list.length} functions`, help];
  }
  const listed = names.length === 0 ? 'it has no FACET' : `its facets are ${names.join(', ')}`;
  const unknown = [
    ['as', Object.keys(typeof as === 'string' ? {} : as), aliases, 'name a function with AS'],
    ['labels', Object.keys(labels), names, listed],
  ] as const;
  for (const [key, written, known, help] of unknown) {
    for (const name of written.filter((one) => !known.includes(one))) {
      const what = key === 'as' ? 'function' : 'facet';
      yield [
        key,
        `has "${name}", and no ${what} of the query has that name`,
        didYouMean(name, known) ?? help,
      ];
    }
  }
  const taken = new Set(Object.keys(constant_labels));
  for (const { name, label } of facets) {
    const problem = derivedLabelProblem([name, label], taken, queryLabels);
    if (problem !== undefined) yield ['nrql', ...problem];
  }
}
