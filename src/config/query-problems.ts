import { isSeq } from 'yaml';
import { hostGaugeName } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { labelNameProblem, queryLabels, snakeCase } from './label-fields.ts';
import { type NrqlText, readNrql } from './nrql-text.ts';
import type { FileQuery } from './query-schema.ts';
import { query as queryShape } from './schema.ts';
import { didYouMean } from './suggestion.ts';
import {
  type FileMap,
  isFileMap,
  locate,
  mapsUnder,
  plainOf,
  type Span,
  spanOf,
  textEntry,
  valueOf,
} from './yaml-node.ts';

/** A query of the file that the schema accepts. */
interface NamedQuery {
  readonly map: FileMap;
  readonly file: FileQuery;
  readonly nrql: NrqlText;
}

function placeOf(map: FileMap, key: string): Span {
  return spanOf(valueOf(map, key) ?? map);
}

type WhyAndHelp = readonly [why: string, help: string];

const timeRange: WhyAndHelp = [
  'the exporter adds the time range itself',
  'write "window" and "delay"',
] as const;
const oneValue: WhyAndHelp = [
  'a gauge has one value at a time',
  'leave it out: Prometheus keeps the history, and PromQL compares with "offset"',
];
/** Clauses that a query must not have, why, and what to do instead. */
const refusedClauses: ReadonlyMap<string, WhyAndHelp> = new Map([
  ['SINCE', timeRange],
  ['UNTIL', timeRange],
  ['TIMESERIES', oneValue],
  ['COMPARE WITH', oneValue],
]);

function nrqlProblems(map: FileMap): readonly Problem[] {
  const entry = textEntry(map, 'nrql');
  if (entry === undefined) return [];
  const { clauses, hasOnlyFunctions } = readNrql(entry.text);
  const refused = [...refusedClauses].filter(([name]) => clauses.has(name.split(' ')[0] ?? ''));
  const messages = refused.map(([name, [why, help]]) => [`must not have ${name}: ${why}`, help]);
  if (!clauses.has('FROM'))
    messages.push(['has no FROM', 'name the data, such as FROM Transaction']);
  if (!hasOnlyFunctions) {
    const message = 'must select functions and nothing else: only a number can become a gauge';
    messages.push([message, 'write SELECT with functions, such as count(*) or average(duration)']);
  }
  return messages.map(([message, help]) => errorAt(entry.span, `"nrql" ${message}`, help));
}

/** The gauges of a query by member; of a single function without a name, by nothing. */
function gaugesOf({ as }: FileQuery): readonly (readonly [member: string, name: string])[] {
  return typeof as === 'string' ? [['', as]] : Object.entries(as);
}

/** What is wrong with the names of gauges and members. */
function memberProblems({ map, file, nrql }: NamedQuery): readonly Problem[] {
  const { functions, facets } = nrql;
  const span = placeOf(map, 'as');
  const aliases = functions.flatMap(({ alias }) => (alias === undefined ? [] : [alias]));
  const taken = [...aliases, ...facets];
  const twice = aliases.find((alias) => taken.indexOf(alias) !== taken.lastIndexOf(alias));
  if (twice !== undefined) {
    const message = `the name "${twice}" is there twice in the query`;
    return [errorAt(placeOf(map, 'nrql'), message, 'choose another name after AS')];
  }
  const { as } = file;
  if (typeof as === 'string') {
    if (functions.length === 1) return [];
    const message = `"as" must be a map: the query selects ${functions.length} functions`;
    const example = functions.map(
      ({ alias }, index) => `${alias ?? `name${index + 1}`}: ${as}_${index + 1}`,
    );
    return [errorAt(span, message, `name each with AS, and write as: { ${example.join(', ')} }`)];
  }
  return Object.keys(as)
    .filter((member) => !aliases.includes(member))
    .map((member) => {
      const help = didYouMean(member, aliases) ?? `write "AS ${member}" behind the function`;
      return errorAt(span, `the query gives no function the name "${member}"`, help);
    });
}

/** What is wrong with the labels. */
function labelProblems({ map, file, nrql }: NamedQuery): readonly Problem[] {
  const { facets } = nrql;
  const span = placeOf(map, map.has('labels') ? 'labels' : 'nrql');
  const problems = Object.keys(file.labels)
    .filter((facet) => !facets.includes(facet))
    .map((facet) => {
      const known =
        facets.length === 0 ? 'the query has no FACET' : `its facets are ${facets.join(', ')}`;
      return errorAt(
        span,
        `"${facet}" is no facet of the query`,
        didYouMean(facet, facets) ?? known,
      );
    });
  const seen = new Set(Object.keys(file.constant_labels));
  for (const name of facets) {
    const label = file.labels[name] ?? snakeCase(name);
    const isWritten = file.labels[name] !== undefined;
    const message = labelNameProblem(label, queryLabels);
    if (message !== undefined && !isWritten) {
      const help = `write labels: { ${JSON.stringify(name)}: newrelic_${snakeCase(name)} }`;
      problems.push(
        errorAt(span, `the facet "${name}" would be the label "${label}", which ${message}`, help),
      );
    } else if (seen.has(label)) {
      const help = `choose another one for the facet "${name}" in "labels"`;
      problems.push(errorAt(span, `the label "${label}" is there twice`, help));
    }
    seen.add(label);
  }
  return problems;
}

/** Functions whose value is in the unit of what they are of. */
const ofAttribute =
  /^(?:average|percentile|median|min|max|latest|earliest|stddev)\(([^(),]+)(?:,[^()]*)?\)$/iu;

/** What a gauge counts or measures, as far as the query tells. */
function unitOf({ as }: FileQuery, { functions }: NrqlText, member: string): string {
  const selected = functions.find(({ alias }) => typeof as === 'string' || alias === member);
  const expression = selected?.expression ?? '';
  return ofAttribute.exec(expression)?.[1] ?? expression;
}

/** Queries that do not go together, and gauges that "metrics" have as well. */
function conflicts(
  queries: readonly NamedQuery[],
  metricNames: ReadonlySet<string>,
  accountOf: (map: FileMap) => string,
): readonly Problem[] {
  const units = new Map<string, string>();
  const taken = new Set<string>();
  return queries.flatMap(({ map, file, nrql }) =>
    gaugesOf(file).flatMap(([member, gauge]) => {
      const unit = unitOf(file, nrql, member);
      const before = units.get(gauge) ?? unit;
      const key = JSON.stringify([accountOf(map), gauge]);
      const isTaken = taken.has(key);
      units.set(gauge, before);
      taken.add(key);
      const messages = [
        ...(metricNames.has(gauge) ? ['is also one of "metrics"'] : []),
        ...(isTaken ? ['is there already in the account'] : []),
        ...(before === unit ? [] : [`has two units: ${before} before, ${unit} here`]),
      ];
      return messages
        .slice(0, 1)
        .map((message) =>
          errorAt(placeOf(map, 'as'), `the gauge "${gauge}" ${message}`, 'choose another name'),
        );
    }),
  );
}

/** The gauges that `metrics` of applications and hosts have in the file. */
function metricNamesOf(root: FileMap): ReadonlySet<string> {
  const lists = [
    locate(root, ['poll', 'metrics']),
    ...mapsUnder(root, 'apps').map((app) => valueOf(app, 'metrics')),
  ];
  const names = new Set<string>();
  for (const list of lists) {
    for (const metric of isSeq(list) ? list.items : []) {
      const name = isFileMap(metric) ? textEntry(metric, 'as')?.text : undefined;
      if (name !== undefined) names.add(name).add(hostGaugeName(name));
    }
  }
  return names;
}

/**
 * Reports queries that cannot become gauges, alone or beside one another. Works on files that the schema
 * rejects, too; of a query that it rejects only the NRQL is looked at.
 *
 * @param accountOf the name of the account of an entry
 */
export function queryProblems(
  root: FileMap,
  accountOf: (map: FileMap) => string,
): readonly Problem[] {
  const maps = mapsUnder(root, 'queries');
  if (maps.length === 0) return [];
  const problems: Problem[] = [];
  const sound: NamedQuery[] = [];
  for (const map of maps) {
    const found = nrqlProblems(map);
    problems.push(...found);
    const { data: file } = queryShape.safeParse(plainOf(map));
    if (file === undefined || found.length > 0) continue;
    const query = { map, file, nrql: readNrql(file.nrql) };
    problems.push(...memberProblems(query), ...labelProblems(query));
    sound.push(query);
  }
  return [...problems, ...conflicts(sound, metricNamesOf(root), accountOf)];
}
