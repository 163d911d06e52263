import { type MetricScope, type PolledSeries, seriesOf } from '../model/polled-series.ts';
import { isRated, type Unit } from '../model/vendor-value.ts';
import { customMetric, metricChoiceOf } from './metric-schema.ts';
import {
  type Found,
  isPlainMap,
  mapsUnder,
  type Path,
  type PlacedMap,
  type PlainMap,
  valueAt,
} from './yaml-document.ts';

/** A metric that the file names itself, and its place. */
interface NamedMetric {
  readonly series: PolledSeries;
  /** The help text, if it is written. */
  readonly help: string | undefined;
  readonly path: Path;
}

interface MetricList {
  /** All but presets and what the schema refuses. */
  readonly named: readonly NamedMetric[];
  /** Whether there is nothing else in the list. */
  readonly isAllNamed: boolean;
  /** The names of the labels that the metrics set, each with the name of such a metric. */
  readonly labels: ReadonlyMap<string, string>;
}

function namedMetric(value: unknown, path: Path): readonly NamedMetric[] {
  const { data } = customMetric.safeParse(value);
  if (data === undefined) return [];
  return seriesOf([metricChoiceOf(data)], []).map((series) => ({ series, help: data.help, path }));
}

function readMetricList(list: unknown, path: Path): MetricList {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  const named = items.flatMap((item, index) => namedMetric(item, [...path, index]));
  const labels = named.flatMap(({ series }) =>
    Object.keys(series.labels).map((label) => [label, series.gauge.name] as const),
  );
  const isAllNamed = named.length > 0 && named.length === items.length;
  return { named, isAllNamed, labels: new Map(labels) };
}

/** Series of one list that would be the same in Prometheus, with the labels of an account. */
function* equalSeries({ named }: MetricList, shared: PlainMap): Iterable<Found> {
  const beside = shared === noLabels ? '' : ', with those of the account';
  const seen = new Map<string, readonly MetricScope[]>();
  for (const { series, path } of named) {
    const { gauge, labels, scope } = series;
    const sorted = Object.entries({ ...shared, ...labels }).toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    );
    const key = JSON.stringify([gauge.name, sorted]);
    const before = seen.get(key) ?? [];
    seen.set(key, [...before, scope]);
    if (before.some((one) => one === scope || one === 'both' || scope === 'both')) {
      const message = `an earlier metric of the list has the name "${gauge.name}" and the same labels${beside}`;
      yield [[...path, 'as'], message, 'give one of them another name, or other labels'];
    }
  }
}

/** A score of what is not rated: New Relic never has one. */
function* scoreOfOthers({ named }: MetricList): Iterable<Found> {
  for (const { series, path } of named) {
    if (series.value !== 'score' || isRated(series.metric)) continue;
    const help = 'write another value, or a metric such as Apdex';
    yield [[...path, 'value'], `only Apdex has a "score", not "${series.metric}"`, help];
  }
}

/** The first series of each gauge, and its help text if there is one. */
interface KnownGauges {
  readonly byName: Map<string, PolledSeries>;
  readonly byHostName: Map<string, PolledSeries>;
  readonly helps: Map<string, string>;
}

/** What the metrics before say about the gauge of this one. */
function conflictOf({ series, help, path }: NamedMetric, known: KnownGauges): Found | undefined {
  const { gauge, scale } = series;
  const same = known.byName.get(gauge.name);
  if (same !== undefined && (same.gauge.unit !== gauge.unit || same.scale !== scale)) {
    const before = unitText(same.gauge.unit, same.scale);
    const message = `the gauge "${gauge.name}" has two units: ${before} before, ${unitText(gauge.unit, scale)} here`;
    const remedy = 'give one of them another name, or both the same unit and "scale"';
    return [[...path, 'as'], message, remedy];
  }
  const helpBefore = known.helps.get(gauge.name);
  if (help !== undefined && (helpBefore ?? help) !== help) {
    const message = `the gauge "${gauge.name}" has two help texts, this one and an earlier one`;
    return [
      [...path, 'help'],
      message,
      'write "help" once, or the same text, or choose another name',
    ];
  }
  const other = known.byHostName.get(gauge.name) ?? known.byName.get(gauge.hostName);
  if (other === undefined) return undefined;
  const { name, hostName } = other.gauge.hostName === gauge.name ? other.gauge : gauge;
  const message = `"${hostName}" is the name of two gauges: that of the hosts of "${name}" has it, too`;
  return [[...path, 'as'], message, 'give one of them another name'];
}

/** Gauges that are not the same everywhere in the file: Prometheus knows a gauge by its name alone. */
function* conflicts(lists: Iterable<MetricList>): Iterable<Found> {
  const known: KnownGauges = { byName: new Map(), byHostName: new Map(), helps: new Map() };
  for (const metric of [...lists].flatMap(({ named }) => named)) {
    const conflict = conflictOf(metric, known);
    if (conflict !== undefined) yield conflict;
    const { series, help } = metric;
    const { name, hostName } = series.gauge;
    if (!known.byName.has(name)) known.byName.set(name, series);
    if (!known.byHostName.has(hostName)) known.byHostName.set(hostName, series);
    if (help !== undefined && !known.helps.has(name)) known.helps.set(name, help);
  }
}

/** Label names that both an entry and one of its metrics set. */
function* labelsTwice({ map, path }: PlacedMap, { labels }: MetricList): Iterable<Found> {
  if (!isPlainMap(map['labels']) || labels.size === 0) return;
  for (const label of Object.keys(map['labels'])) {
    const metric = labels.get(label);
    if (metric === undefined) continue;
    const message = `the label "${label}" is also one of the metric "${metric}" in "metrics"`;
    yield [[...path, 'labels', label], message, 'leave it out in one of the two places', 'key'];
  }
}

/** An entry that has only metrics of what it leaves out. */
function* nothingToRead(app: PlacedMap, { named, isAllNamed }: MetricList): Iterable<Found> {
  const { map, path } = app;
  const noHosts = map['hosts'] === false;
  // Another check reports an entry without both.
  if (!isAllNamed || (map['application'] === false) === noHosts) return;
  const [off, scope] = noHosts ? ['hosts', 'hosts'] : ['application', 'applications'];
  if (named.some(({ series }) => series.scope !== scope)) return;
  const message = `all metrics are "for: ${scope}", so with "${off}: false" nothing is left to read`;
  const at = Object.hasOwn(map, 'metrics') ? [...path, 'metrics'] : path;
  yield [at, message, `leave out "${off}: false", or choose other metrics`];
}

const noLabels: PlainMap = {};
const hasAny = (found: readonly Found[]): boolean => found.length > 0;

/**
 * Metrics that do not go together: with one another, or with the entries that have them. A metric that the
 * schema rejects is left out. With aliases thousands of entries have the same list, which is read once.
 */
export function* metricConflicts({ written }: { readonly written: PlainMap }): Iterable<Found> {
  const known = new Map<unknown, MetricList>();
  const accounts = new Map(mapsUnder(written, 'accounts').map(({ map }) => [map['name'], map]));
  const [onlyName] = accounts.keys();
  const read = (list: unknown, path: Path): MetricList => {
    const found = known.get(list) ?? readMetricList(list, path);
    known.set(list, found);
    return found;
  };
  const usual = valueAt(written, ['poll', 'metrics']);
  read(usual, ['poll', 'metrics']);
  const apps = mapsUnder(written, 'apps').map((app) => {
    const isOwn = Object.hasOwn(app.map, 'metrics');
    const list = read(isOwn ? app.map['metrics'] : usual, [...app.path, 'metrics']);
    const shared = accounts.get(app.map['account'] ?? onlyName)?.['labels'];
    return { app, list, shared: isPlainMap(shared) ? shared : noLabels };
  });
  const sharing = new Map(Array.from(known.values(), (list) => [list, new Set([noLabels])]));
  for (const { list, shared } of apps) sharing.get(list)?.add(shared);
  for (const [list, all] of sharing) {
    yield* [...all].map((shared) => [...equalSeries(list, shared)]).find(hasAny) ?? [];
    yield* scoreOfOthers(list);
  }
  yield* conflicts(known.values());
  for (const { app, list } of apps) {
    yield* labelsTwice(app, list);
    yield* nothingToRead(app, list);
  }
}

/** What the values of a gauge are, in words. */
const unitTexts: Readonly<Record<Unit, string>> = {
  seconds: 'seconds',
  seconds_per_minute: 'seconds per minute',
  bytes: 'bytes',
  ratio: 'ratios',
  per_minute: 'rates per minute',
  per_second: 'rates per second',
  count: 'numbers',
  as_metric: "values in the metric's own unit",
  as_metric_per_second: "values in the metric's own unit per second",
};

/** A unit in words, such as `seconds × 1000`. */
function unitText(unit: Unit, scale: number): string {
  return scale === 1 ? unitTexts[unit] : `${unitTexts[unit]} × ${scale}`;
}

/** Endings of names that state a unit: with which `scale` the values of a unit are in it. */
const scalesOfEndings: readonly (readonly [string, Readonly<Partial<Record<Unit, number>>>])[] = [
  ['_seconds_per_minute', { seconds_per_minute: 1 }],
  ['_seconds', { seconds: 1 }],
  ['_milliseconds', { seconds: 1000 }],
  ['_ms', { seconds: 1000 }],
  ['_bytes', { bytes: 1 }],
  ['_ratio', { ratio: 1 }],
  ['_percent', { ratio: 100 }],
  ['_per_minute', { per_minute: 1, per_second: 60, seconds_per_minute: 1 }],
  ['_per_second', { per_second: 1 }],
];

/**
 * What is wrong with a name that ends in another unit than the values have, and what helps. A scale that no ending
 * stands for is taken for a correction of the metric, which leaves the unit open.
 * @param scaled how to write another scale
 */
export function wrongEnding(
  name: string,
  unit: Unit,
  scale: number,
  scaled: (scale: number) => string,
): readonly [message: string, help?: string] | undefined {
  const found = scalesOfEndings.find(([ending]) => name.endsWith(ending));
  if (found === undefined || unit.startsWith('as_metric')) return undefined;
  const [ending, scales] = found;
  const rightScale = scales[unit];
  const sameUnit = scalesOfEndings.filter(([, ofUnit]) => ofUnit[unit] === scale);
  const isKnown = scale === 1 || sameUnit.length > 0;
  if (rightScale === scale || (rightScale !== undefined && !isKnown)) return undefined;
  const rightName = name.slice(0, -ending.length) + (sameUnit[0]?.[0] ?? '');
  const remedies = [
    ...(rightName === '' ? [] : [`"as: ${rightName}"`]),
    ...(rightScale === undefined ? [] : [`"${scaled(rightScale)}"`]),
  ];
  const message = `"as" ends in "${ending}", but the values are ${unitText(unit, scale)}`;
  return remedies.length === 0 ? [message] : [message, `write ${remedies.join(' or ')}`];
}
