import type { z } from 'zod';
import type { Query } from '../model/config.ts';
import { derivedLabelProblems, queryLabels, snakeCase } from './label-fields.ts';
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
export type QueryMeaning = Pick<
  Query,
  'written' | 'nrql' | 'added' | 'gauges' | 'facets' | 'mostRows' | 'eventTypes'
>;

type Refusal = readonly [key: keyof WrittenQuery, message: string, help: string];

/** The exporter asks for one window, and says which. */
const refusedClauses = ['SINCE', 'UNTIL', 'TIMESERIES', 'COMPARE WITH'];
const refusedHelp =
  'leave it out: "window" and "delay" set the time range, and PromQL compares with "offset"';

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
  const names = (clauses.get('FACET') ?? []).map(({ alias, expression }) => alias ?? expression);
  const labelled = names.map((name) => [name, labels[name] ?? snakeCase(name)] as const);
  const aliases = functions.map(({ alias }) => alias);
  const others = Object.keys(written.constant_labels);
  const ofLabels = Array.from(derivedLabelProblems(labelled, others, queryLabels));
  const refusals: readonly Refusal[] = [
    ...clauseRefusals(clauses),
    ...nameRefusals(written, aliases, names),
    ...ofLabels.map((problem) => ['nrql', ...problem] as const),
  ];
  for (const [key, message, help] of refusals) {
    context.addIssue({ code: 'custom', message, path: [key], params: { help } });
  }
  const [first] = functions;
  const end = first?.alias === undefined && functions.length === 1 ? first?.end : undefined;
  const gauges = Object.entries(typeof as === 'string' ? { [first?.alias ?? unnamed]: as } : as);
  return {
    nrql: end === undefined ? text : `${text.slice(0, end)} AS ${unnamed}${text.slice(end)}`,
    gauges: gauges.map(([member, name]) => {
      const { expression = '' } = functions.find((one) => (one.alias ?? unnamed) === member) ?? {};
      return { name, member, unit: ofAttribute.exec(expression)?.[1] ?? expression };
    }),
    facets: labelled.map(([name, label]) => ({ name, label })),
  };
}

function* clauseRefusals(clauses: NrqlText['clauses']): Iterable<Refusal> {
  for (const clause of refusedClauses.filter((one) => clauses.has(one))) {
    const message = `must not have ${clause}: a gauge has one value, and the exporter adds the time range`;
    yield ['nrql', message, refusedHelp];
  }
  if (!clauses.has('FROM'))
    yield ['nrql', 'has no FROM', 'name the data, such as FROM Transaction'];
  if (clauses.get('SELECT')?.every(({ callsFunction }) => callsFunction) !== true) {
    const message = 'must select functions and nothing else: only a number can become a gauge';
    yield ['nrql', message, 'write SELECT with functions, such as count(*) or average(duration)'];
  }
}

function* nameRefusals(
  { as, labels }: WrittenQuery,
  functions: readonly (string | undefined)[],
  facets: readonly string[],
): Iterable<Refusal> {
  const aliases = functions.filter((alias) => alias !== undefined);
  const twice = [...aliases, ...facets].find((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined) {
    yield ['nrql', `has the name "${twice}" twice`, 'choose another name after AS'];
  }
  const isText = typeof as === 'string';
  if (isText && functions.length > 1) {
    const list = functions.map((alias, at) => `${alias ?? `name${at + 1}`}: ${as}_${at + 1}`);
    const help = `name each with AS, and write as: { ${list.join(', ')} }`;
    yield ['as', `must be a map: the query selects ${list.length} functions`, help];
  }
  const listed = facets.length === 0 ? 'it has no FACET' : `its facets are ${facets.join(', ')}`;
  const uses = [
    ['as', 'function', isText ? {} : as, aliases, 'name a function with AS'],
    ['labels', 'facet', labels, facets, listed],
  ] as const;
  for (const [key, what, map, known, help] of uses) {
    for (const name of Object.keys(map).filter((one) => !known.includes(one))) {
      const message = `has "${name}", and no ${what} of the query has that name`;
      yield [key, message, didYouMean(name, known) ?? help];
    }
  }
}
