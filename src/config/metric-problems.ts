import { isSeq, type Node } from 'yaml';
import { type MetricScope, type PolledSeries, seriesOf } from '../model/polled-series.ts';
import { isRated } from '../model/vendor-value.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { unitText } from './gauge-unit.ts';
import { customMetric, metricChoiceOf } from './metric-schema.ts';
import {
  type FileMap,
  isFileMap,
  isSetTo,
  locate,
  mapsUnder,
  plainOf,
  spanOf,
  valueOf,
} from './yaml-node.ts';

/** A metric that the file names itself, and its place. */
interface NamedMetric {
  readonly series: PolledSeries;
  /** The help text, if it is written. */
  readonly help: string | undefined;
  readonly map: FileMap;
}

interface MetricList {
  /** All but presets and what the schema refuses. */
  readonly named: readonly NamedMetric[];
  /** Whether there is nothing else in the list. */
  readonly isAllNamed: boolean;
  /** The names of the labels that the metrics set, each with the name of such a metric. */
  readonly labels: ReadonlyMap<string, string>;
}

function namedMetric(node: unknown): NamedMetric | undefined {
  if (!isFileMap(node)) return undefined;
  const { data } = customMetric.safeParse(plainOf(node));
  if (data === undefined) return undefined;
  const [series] = seriesOf([metricChoiceOf(data)], []);
  return series === undefined ? undefined : { series, help: data.help, map: node };
}

const noList: MetricList = { named: [], isAllNamed: false, labels: new Map() };

/** Reads lists, each of them once: with aliases thousands of entries have the same. */
function createReader(): (list: Node | undefined) => MetricList {
  const known = new Map<Node, MetricList>();
  return (list) => {
    if (!isSeq(list)) return noList;
    const before = known.get(list);
    if (before !== undefined) return before;
    const named = list.items.map(namedMetric).filter((metric) => metric !== undefined);
    const labels = named.flatMap(({ series }) =>
      Object.keys(series.labels).map((label) => [label, series.gauge.name] as const),
    );
    const isAllNamed = named.length > 0 && named.length === list.items.length;
    const read = { named, isAllNamed, labels: new Map(labels) };
    known.set(list, read);
    return read;
  };
}

function errorIn(map: FileMap, key: string, message: string, help: string): Problem {
  const node = valueOf(map, key);
  return errorAt(spanOf(node ?? map), message, help);
}

function overlap(one: MetricScope, other: MetricScope): boolean {
  return one === other || one === 'both' || other === 'both';
}

/** Series of one list that would be the same in Prometheus. */
function equalSeries({ named }: MetricList): readonly Problem[] {
  const seen = new Map<string, Set<MetricScope>>();
  return named.flatMap((metric) => {
    const { gauge, labels, scope } = metric.series;
    const sorted = Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const key = JSON.stringify([gauge.name, sorted]);
    const before = seen.get(key) ?? new Set();
    const isTaken = [...before].some((earlier) => overlap(earlier, scope));
    seen.set(key, before.add(scope));
    if (!isTaken) return [];
    const message = `an earlier metric of the list has the name "${gauge.name}" and the same labels`;
    return [errorIn(metric.map, 'as', message, 'give one of them another name, or other labels')];
  });
}

/** The first series of each gauge, and its help text if there is one. */
interface KnownGauges {
  readonly byName: Map<string, PolledSeries>;
  readonly byHostName: Map<string, PolledSeries>;
  readonly helps: Map<string, string>;
}

/** What the metrics before say about the gauge of this one. */
function conflictOf(metric: NamedMetric, known: KnownGauges): Problem | undefined {
  const { gauge, scale } = metric.series;
  const same = known.byName.get(gauge.name);
  if (same !== undefined && (same.gauge.unit !== gauge.unit || same.scale !== scale)) {
    const units = `${unitText(same)} before, ${unitText(metric.series)} here`;
    const message = `the gauge "${gauge.name}" has two units: ${units}`;
    const help = 'give one of them another name, or both the same unit and "scale"';
    return errorIn(metric.map, 'as', message, help);
  }
  const helpBefore = known.helps.get(gauge.name);
  if (metric.help !== undefined && (helpBefore ?? metric.help) !== metric.help) {
    const message = `the gauge "${gauge.name}" has two help texts, this one and an earlier one`;
    const help = 'write "help" once, or the same text, or choose another name';
    return errorIn(metric.map, 'help', message, help);
  }
  const other = known.byHostName.get(gauge.name) ?? known.byName.get(gauge.hostName);
  if (other === undefined) return undefined;
  const isOwn = other.gauge.hostName !== gauge.name;
  const { name, hostName } = isOwn ? gauge : other.gauge;
  const message = `"${hostName}" is the name of two gauges: that of the hosts of "${name}" has it, too`;
  return errorIn(metric.map, 'as', message, 'give one of them another name');
}

/** A score of what is not rated: New Relic never has one. */
function scoreOfOthers({ named }: MetricList): readonly Problem[] {
  return named.flatMap(({ series: { metric, value }, map }) => {
    if (value !== 'score' || isRated(metric)) return [];
    const help = 'write another value, or a metric such as Apdex';
    return [errorIn(map, 'value', `only Apdex has a "score", not "${metric}"`, help)];
  });
}

/** Gauges that are not the same everywhere in the file: Prometheus knows a gauge by its name alone. */
function conflicts(lists: readonly MetricList[]): readonly Problem[] {
  const known: KnownGauges = { byName: new Map(), byHostName: new Map(), helps: new Map() };
  return lists
    .flatMap(({ named }) => named)
    .flatMap((metric) => {
      const conflict = conflictOf(metric, known);
      const { series, help } = metric;
      const { name, hostName } = series.gauge;
      if (!known.byName.has(name)) known.byName.set(name, series);
      if (!known.byHostName.has(hostName)) known.byHostName.set(hostName, series);
      if (help !== undefined && !known.helps.has(name)) known.helps.set(name, help);
      return conflict === undefined ? [] : [conflict];
    });
}

/** Label names that both an entry and one of its metrics set. */
function labelsTwice(app: FileMap, { labels }: MetricList): readonly Problem[] {
  const own = valueOf(app, 'labels');
  if (!isFileMap(own) || labels.size === 0) return [];
  return own.items.flatMap(({ key }) => {
    const metric = labels.get(key.value);
    if (metric === undefined) return [];
    const message = `the label "${key.value}" is also one of the metric "${metric}" in "metrics"`;
    return [errorAt(spanOf(key), message, 'leave it out in one of the two places')];
  });
}

/** An entry that has only metrics of what it leaves out. */
function nothingToRead(app: FileMap, { named, isAllNamed }: MetricList): readonly Problem[] {
  const noHosts = isSetTo(app, 'hosts', false);
  // Another check reports an entry without both.
  if (!isAllNamed || isSetTo(app, 'application', false) === noHosts) return [];
  const [off, scope] = noHosts
    ? (['hosts', 'hosts'] as const)
    : (['application', 'applications'] as const);
  if (named.some(({ series }) => series.scope !== scope)) return [];
  const message = `all metrics are "for: ${scope}", so with "${off}: false" nothing is left to read`;
  return [errorIn(app, 'metrics', message, `leave out "${off}: false", or choose other metrics`)];
}

/**
 * Reports metrics that do not go together: with one another, or with the entries that have them. Works on
 * files that the schema rejects, too; a metric that it rejects is left out.
 */
export function metricProblems(root: Node): readonly Problem[] {
  const read = createReader();
  const usual = locate(root, ['poll', 'metrics']);
  const apps = mapsUnder(root, 'apps').map((app) => ({
    app,
    list: read(app.has('metrics') ? valueOf(app, 'metrics') : usual),
  }));
  const lists = [...new Set([read(usual), ...apps.map(({ list }) => list)])];
  return [
    ...lists.flatMap(equalSeries),
    ...lists.flatMap(scoreOfOthers),
    ...conflicts(lists),
    ...apps.flatMap(({ app, list }) => [...labelsTwice(app, list), ...nothingToRead(app, list)]),
  ];
}
