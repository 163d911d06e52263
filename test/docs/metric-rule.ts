import { parseExposition } from '../support/exposition-parser.ts';
import { codeWordsIn, tablesIn } from './markdown.ts';

export interface MetricFacts {
  readonly name: string;
  readonly type: string;
  /** Sorted; `undefined` where a page shows no series and so no labels. */
  readonly labels: readonly string[] | undefined;
}

/** What a page says of its families. `le` belongs to histograms, not to the documents. */
export function metricsOfPage(page: Uint8Array): readonly MetricFacts[] {
  return parseExposition(page).map(({ name, type, samples }) => {
    const labels = new Set(samples.flatMap((sample) => sample.labels.map(([label]) => label)));
    labels.delete('le');
    return { name, type, labels: samples.length === 0 ? undefined : [...labels].toSorted() };
  });
}

/**
 * The rows of tables whose columns are `metric`, `type` and one that begins with `labels`. Words in
 * backticks in the head of that column are labels of every row, and a row may name several metrics. A fourth column `of a host` has a
 * second metric, with the labels in its head as well.
 */
export function documentedMetrics(text: string): readonly MetricFacts[] {
  return tablesIn(text).flatMap(({ header, rows }) => {
    const [metric, type, labels = '', second = ''] = header;
    if (metric !== 'metric' || type !== 'type' || !labels.startsWith('labels')) return [];
    const ofHosts = second.startsWith('of a host') ? codeWordsIn(second) : [];
    return rows.flatMap(([name = '', kind = '', own = '', hostName = '']) => {
      const all = [...codeWordsIn(labels), ...codeWordsIn(own)];
      const named = (cell: string, labelNames: readonly string[]): readonly MetricFacts[] =>
        codeWordsIn(cell).map((one) => ({ name: one, type: kind, labels: labelNames.toSorted() }));
      return [
        ...named(name, all),
        ...(ofHosts.length === 0 ? [] : named(hostName, [...all, ...ofHosts])),
      ];
    });
  });
}

/** Where the documents differ from the pages. Metrics of the platform need not exist everywhere. */
export function metricProblems(
  actual: readonly MetricFacts[],
  documented: readonly MetricFacts[],
): readonly string[] {
  const names = documented.map(({ name }) => name);
  return [
    ...actual.flatMap((metric) => {
      const found = documented.find(({ name }) => name === metric.name);
      if (found === undefined) return [`${metric.name} is not documented`];
      return factProblems(metric, found);
    }),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `${name} stands twice`),
  ];
}

function factProblems(actual: MetricFacts, documented: MetricFacts): readonly string[] {
  const problems: string[] = [];
  if (actual.type !== documented.type) problems.push(`${actual.name} is a ${actual.type}`);
  if (actual.labels !== undefined && actual.labels.join() !== documented.labels?.join()) {
    problems.push(`${actual.name} has the labels ${actual.labels.join(', ')}`);
  }
  return problems;
}

/** What docs/stability.md can say of a metric. */
export const stabilityWords = ['stable', 'may change'] as const;

/** Metrics of which no table says, in its column `stability`, whether they may change. */
export function withoutStability(actual: readonly MetricFacts[], text: string): readonly string[] {
  const said = new Set(
    tablesIn(text).flatMap(({ header, rows }) => {
      const column = header.indexOf('stability');
      if (header[0] !== 'metric' || column === -1) return [];
      const names = header.map((title) => title === 'metric' || title.startsWith('of a host'));
      return rows
        .filter((row) => stabilityWords.some((word) => word === row[column]))
        .flatMap((row) => row.filter((_, index) => names[index] === true).flatMap(codeWordsIn));
    }),
  );
  return actual.map(({ name }) => name).filter((name) => !said.has(name));
}

/** Repositories, files and programs of other exporters, whose names begin as our metrics do. */
const otherPrograms = /[\w-]+\/newrelic_exporter\b|\bnewrelic_exporter(?=\.yml| -)/g;

/** Names of our metrics that do not exist. A name that ends in `_` stands for all that begin so. */
export function strayMetricNames(text: string, known: readonly MetricFacts[]): readonly string[] {
  const names = known.flatMap(({ name, type }) =>
    type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return [...text.replaceAll(otherPrograms, '').matchAll(/\bnewrelic_[a-z0-9_]*/g)]
    .map(([word]) => word)
    .filter((word) =>
      word.endsWith('_') ? !names.some((name) => name.startsWith(word)) : !names.includes(word),
    );
}
