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

/** Clauses that a query must not have, and why. */
const refusedClauses: ReadonlyMap<string, readonly [name: string, why: string, help: string]> =
  new Map([
    ['SINCE', ['SINCE', 'the exporter adds the time range itself', 'write "window" and "delay"']],
    ['UNTIL', ['UNTIL', 'the exporter adds the time range itself', 'write "window" and "delay"']],
    [
      'TIMESERIES',
      [
        'TIMESERIES',
        'a gauge has one value at a time',
        'leave it out: Prometheus keeps the history',
      ],
    ],
    [
      'COMPARE',
      ['COMPARE WITH', 'a gauge has one value at a time', 'compare in PromQL, with "offset"'],
    ],
  ]);

function nrqlProblems(map: FileMap): readonly Problem[] {
  const entry = textEntry(map, 'nrql');
  if (entry === undefined) return [];
  const { clauses, hasOnlyFunctions, isClosed } = readNrql(entry.text);
  const at = (message: string, help: string): Problem => errorAt(entry.span, message, help);
  if (!isClosed) {
    return [
      at(
        '"nrql" has a quote or a bracket that is not closed',
        'close it, or write "\\" before a quote',
      ),
    ];
  }
  return [
    ...[...clauses].flatMap((word) => {
      const refused = refusedClauses.get(word);
      if (refused === undefined) return [];
      const [name, why, help] = refused;
      return [at(`"nrql" must not have ${name}: ${why}`, help)];
    }),
    ...(clauses.has('FROM')
      ? []
      : [at('"nrql" has no FROM', 'name the data, such as FROM Transaction')]),
    ...(hasOnlyFunctions
      ? []
      : [
          at(
            '"nrql" must select functions and nothing else: only a number can become a gauge',
            'write SELECT with functions, such as count(*) or average(duration)',
          ),
        ]),
  ];
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
  const taken = [...aliases, ...facets.map(({ name }) => name)];
  const twice = aliases.find((alias) => taken.indexOf(alias) !== taken.lastIndexOf(alias));
  if (twice !== undefined) {
    const message = `the name "${twice}" is there twice in the query`;
    return [errorAt(placeOf(map, 'nrql'), message, 'choose another name after AS')];
  }
  if (typeof file.as === 'string') {
    if (functions.length === 1) return [];
    const message = `"as" must be a map: the query selects ${functions.length} functions`;
    const example = functions.map(
      ({ alias }, index) => `${alias ?? `name${index + 1}`}: ${String(file.as)}_${index + 1}`,
    );
    return [errorAt(span, message, `name each with AS, and write as: { ${example.join(', ')} }`)];
  }
  const unknown = Object.keys(file.as).filter((member) => !aliases.includes(member));
  const names = Object.values(file.as);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  return [
    ...unknown.map((member) => {
      const help =
        didYouMean(member, aliases) ?? `write "AS ${member}" behind the function in the query`;
      return errorAt(span, `the query gives no function the name "${member}"`, help);
    }),
    ...(double === undefined
      ? []
      : [
          errorAt(
            span,
            `two functions have the gauge "${double}"`,
            'give one of them another name',
          ),
        ]),
  ];
}

/** What is wrong with the labels. */
function labelProblems({ map, file, nrql }: NamedQuery): readonly Problem[] {
  const facets = nrql.facets.map(({ name }) => name);
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
  for (const { name, isNamed } of nrql.facets) {
    const label = file.labels[name] ?? snakeCase(name);
    const isWritten = file.labels[name] !== undefined;
    const message = labelNameProblem(label, queryLabels);
    if (!isNamed && !isWritten) {
      problems.push(
        errorAt(
          placeOf(map, 'nrql'),
          `the facet "${name}" has no name`,
          'write AS and a name behind it',
        ),
      );
    } else if (message !== undefined && !isWritten) {
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

interface KnownGauge {
  readonly query: NamedQuery;
  readonly unit: string;
}

function isTold(one: FileQuery, other: FileQuery): boolean {
  const values = other.constant_labels;
  return Object.entries(one.constant_labels).some(
    ([label, value]) => values[label] !== undefined && values[label] !== value,
  );
}

/** Queries that do not go together, and gauges that "metrics" have as well. */
function conflicts(
  queries: readonly NamedQuery[],
  metricNames: ReadonlySet<string>,
  accountOf: (map: FileMap) => string,
): readonly Problem[] {
  const gauges = new Map<string, KnownGauge[]>();
  const names = new Set<string>();
  return queries.flatMap((query) => {
    const { map, file, nrql } = query;
    const problems: Problem[] = [];
    const add = (key: string, message: string, help: string): void => {
      problems.push(errorAt(placeOf(map, key), message, help));
    };
    for (const [member, gauge] of gaugesOf(file)) {
      const unit = unitOf(file, nrql, member);
      const known = gauges.get(gauge) ?? [];
      const other = known.find((one) => one.unit !== unit);
      const help = known.map((one) => one.query.file.help).find((text) => text !== undefined);
      const isTaken = known.some(
        (one) =>
          one.query !== query &&
          accountOf(one.query.map) === accountOf(map) &&
          !isTold(one.query.file, file),
      );
      if (metricNames.has(gauge)) {
        add('as', `the gauge "${gauge}" is also one of "metrics"`, 'choose another name');
      } else if (other !== undefined) {
        const units = `${other.unit} before, ${unit} here`;
        add('as', `the gauge "${gauge}" has two units: ${units}`, 'give one of them another name');
      } else if (isTaken) {
        const remedy = 'choose another name, or tell them apart by one of the "constant_labels"';
        add('as', `an earlier query of the account has the gauge "${gauge}"`, remedy);
      } else if (help !== undefined && file.help !== undefined && help !== file.help) {
        add(
          'help',
          `the gauge "${gauge}" has two help texts`,
          'write "help" once, or the same text',
        );
      }
      gauges.set(gauge, [...known, { query, unit }]);
    }
    const name = queryNameOf(file);
    const key = JSON.stringify([accountOf(map), name]);
    if (names.has(key) && problems.length === 0) {
      add(
        map.has('name') ? 'name' : 'as',
        `an earlier query of the account has the name "${name}"`,
        'give this one another "name"',
      );
    }
    names.add(key);
    return problems;
  });
}

/** The name of a query: its own, or that of its first gauge. */
export function queryNameOf(file: FileQuery): string {
  return file.name ?? gaugesOf(file)[0]?.[1] ?? '';
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
