import { ConfigError } from '../../config/diagnostic.ts';
import { parseConfig } from '../../config/load-config.ts';
import { callOf, readNrql } from '../../config/nrql-text.ts';
import { inlineMap, snakeCase } from '../../config/schema-fields.ts';
import { onOneLine } from '../../model/shown-text.ts';
import { quotedOnOneLine } from '../metrics/metrics-yaml.ts';
import type { GoldenEntities, GoldenMetric } from '../survey/golden-metrics.ts';

/** Characters of a foreign text on a line, of one in a name, and of all that New Relic says of a metric. */
const [longestText, longestName, mostCharacters] = [200, 100, 3000];

/**
 * Golden metrics as the `queries` of a configuration. What cannot become a gauge is a comment that says why.
 *
 * @param type of the entities, such as SYNTH-MONITOR
 * @param namesAccounts whether an entry says which account it is of
 */
export async function goldenQueriesYaml(
  type: string,
  all: readonly GoldenEntities[],
  namesAccounts: boolean,
): Promise<string> {
  const taken = new Map<string, string>();
  const entries: string[] = [];
  const head: string[] = [];
  for (const { account, reporting, metrics } of all) {
    const of = onOneLine(`${type} of ${account}`, longestText);
    const most = reporting > mostFacets ? `; New Relic gives ${mostFacets} rows at most` : '';
    head.push(`# ${of}: ${reporting} report${most}`);
    for (const metric of metrics) {
      const text = JSON.stringify(metric);
      // Two accounts may have the same metric.
      const isTaken = (as: string): boolean => (taken.get(as) ?? text) !== text;
      const isLong = text.length > mostCharacters;
      const entry = isLong ? undefined : entryOf(type, metric, reporting, isTaken);
      const refusal = entry === undefined ? 'it is too long' : await entryRefusal(entry);
      if (entry !== undefined && refusal === undefined) {
        taken.set(entry.as, text);
        const owner = namesAccounts ? [`    account: ${quotedOnOneLine(account)}`] : [];
        entries.push(...entry.lines, ...owner);
      } else {
        const title = quotedOnOneLine(onOneLine(metric.title, longestText));
        head.push(`# ${title} is left out: ${onOneLine(refusal ?? '', longestText)}`);
      }
    }
  }
  head.push(entries.length === 0 ? 'queries: []' : 'queries:');
  return `${[...head, ...entries].join('\n')}\n`;
}

interface Entry {
  readonly as: string;
  readonly lines: readonly string[];
  /** Whether its query asks for the metric, and for nothing else. */
  readonly isPlain: boolean;
}

const usualAccount = 'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: A }]';

/** Why the reader of the configuration would not take an entry, or nobody should. */
async function entryRefusal({ lines, isPlain }: Entry): Promise<string | undefined> {
  const text = [usualAccount, 'queries:', ...lines].join('\n');
  try {
    await parseConfig(text, { fileName: '', directory: '/' });
    return isPlain ? undefined : 'it is not one function of one kind of data';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.diagnostics[0]?.message ?? error.message;
  }
}

/** What names say of units, and endings that gauges may not have. */
const saidByUnit =
  /(?:_(?:ms|s|m?sec|[rp]pm|per_min|milliseconds|seconds|percent(?:age)?|pct|ratio|bytes|per_(?:second|minute)|metric|total|count|sum|bucket|info|created))+$/u;
const unitInTitle = / *\((?:ms|milliseconds|%|bits?(?:\/s)?)\) *$|(?<=\S) *% *$/iu;
/** What `max_series` is without being written, and at most. */
const [usualSeries, mostSeries] = [1000, 100_000];

/** A function of several percentages gives a value for each. */
function seriesOfRow(selected: string): number {
  const { name, parts } = callOf(selected);
  return /^percentile$/iu.test(name) ? Math.max(1, parts.length - 1) : 1;
}

function entryOf(
  type: string,
  metric: GoldenMetric,
  reporting: number,
  isTaken: (as: string) => boolean,
): Entry {
  const { suffix, isConverted, ...what } = valueOf(metric);
  const { nrql, isPlain, name, limit } = queryOf(metric, what, reporting);
  const stem = snakeCase(`${type} ${metric.name}`).slice(0, longestName).replace(saidByUnit, '');
  let as = stem + suffix;
  for (let number = 2; isTaken(as); number += 1) as = `${stem}_${number}${suffix}`;
  const title = isConverted ? metric.title.replace(unitInTitle, '') : metric.title;
  const isUsual = snakeCase(name) === 'entity_name';
  const series = Math.min(mostSeries, limit * seriesOfRow(what.selected));
  const lines = [
    `  - as: ${as}`,
    `    nrql: ${quotedOnOneLine(nrql)}`,
    ...(isUsual ? [] : [`    ${inlineMap('labels', [[name, 'entity_name']])}`]),
    `    help: ${quotedOnOneLine(onOneLine(title, longestText) || as)}`,
    ...(series > usualSeries ? [`    max_series: ${series}`] : []),
  ];
  return { as, lines, isPlain };
}

/** On one line, without comments. */
function written(nrql: string): string {
  return readNrql(nrql).text.trim();
}

/** How a name says what New Relic calls a unit, and how many of them are one of it. */
const units: ReadonlyMap<string, readonly [suffix: string, divisor: number]> = new Map([
  ['SECONDS', ['_seconds', 1]],
  ['MS', ['_seconds', 1000]],
  ['TIMESTAMP', ['_timestamp_seconds', 1000]],
  ['PERCENTAGE', ['_ratio', 100]],
  ['BYTES', ['_bytes', 1]],
  ['BITS', ['_bytes', 8]],
  ['HERTZ', ['_hertz', 1]],
  ['CELSIUS', ['_celsius', 1]],
]);

const alias = / +AS +(?:'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*"|`[^`]*`|\w+)$/iu;

/** What is selected, in the unit that the gauge has in its name. */
function valueOf({ unit, select }: GoldenMetric) {
  const selected = written(select).replace(alias, '');
  const { name: called, parts } = callOf(selected);
  // What `rate` is by says more than the unit: pages a second may be by the minute.
  const rated = /^rate 1 +(\w+?)s?$/iu.exec(`${called} ${parts[1]}`);
  const each = (rated ?? /_PER_(\w+)$/u.exec(unit))?.[1]?.toLowerCase();
  const [what, divisor] = units.get(unit.replace(/_PER_\w+$/u, '')) ?? ['', 1];
  const suffix = what + (each === undefined ? '' : `_per_${each}`);
  if (divisor === 1) return { suffix, selected, value: selected, isConverted: false };
  const times = ` * ${divisor}`;
  const before = selected.endsWith(times) ? selected.slice(0, -times.length) : '';
  const divided = `${called === '' ? `(${selected})` : selected} / ${divisor}`;
  const value = callOf(before).name === '' ? divided : before;
  return { suffix, selected, value, isConverted: true };
}

/** Attributes with the name of an entity. Some data has it elsewhere than beside its id. */
const nameAttributes = new Set(['entity.name', 'entityName', 'appName', 'monitorName']);
const ofApplications = /^(?:Page|JavaScript|Ajax|Browser|Mobile)|^Metric .*\bapm\./u;

function nameIn(data: string, eventId: string): string {
  if (ofApplications.test(data)) return 'appName';
  if (data.startsWith('Synthetic')) return 'monitorName';
  return eventId.replace(/guid$/iu, (word) => (word === 'guid' ? 'name' : 'Name'));
}

/** More rows New Relic does not give. */
const mostFacets = 5000;
/** How many values each entity may have of a further facet. */
const valuesOfFacet = 10;
/** Entities come, and nobody pastes the query again. */
const room = 1.5;

/** The query of a value for all entities, each by its name and its id. */
function queryOf(
  metric: GoldenMetric,
  { selected, value }: Readonly<Record<'selected' | 'value', string>>,
  reporting: number,
) {
  const eventId = written(metric.eventId) || 'entity.guid';
  const from = written(metric.from) || 'Metric';
  const where = written(metric.where);
  const facet = readNrql(`FACET ${written(metric.facet)}`).clauses.get('FACET') ?? [];
  const others = facet.map(({ expression }) => expression);
  const usual = nameIn(`${from} ${value}`, eventId);
  const name = others.find((one) => nameAttributes.has(one)) ?? usual;
  const facets = [...new Set([name, eventId, ...others])];
  const rows = reporting * room * (facets.length > 2 ? valuesOfFacet : 1);
  const limit = Math.min(mostFacets, Math.ceil(Math.max(1, rows) / 100) * 100);
  const query = (what: string, more: string): string =>
    `SELECT ${what} FROM ${from} WHERE ${eventId} IS NOT NULL${where && more} FACET ${facets.join(', ')} LIMIT ${limit}`;
  const nrql = query(value, ` AND (${where})`);
  // What is in brackets would not be looked at.
  const plain = query(selected, ` AND ${where}`);
  const { clauses } = readNrql(plain);
  const understood = Array.from(clauses, ([words, items]) => {
    return `${words} ${items.map(({ expression }) => expression).join(',')}`;
  });
  const isPlain =
    [...clauses.keys()].join() === 'SELECT,FROM,WHERE,FACET,LIMIT' &&
    understood.join('').replaceAll(/\s/gu, '') === plain.replaceAll(/\s/gu, '') &&
    clauses.get('FROM')?.every(({ isName }) => isName) === true;
  return { nrql, isPlain, name, limit };
}
