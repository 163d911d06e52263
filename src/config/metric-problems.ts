import { type MetricScope, type PolledSeries, seriesOf } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { unitText } from './gauge-unit.ts';
import { isOff, type Located, type LocatedMap, locate, mapsUnder, plainOf } from './located.ts';
import { customMetric, metricChoiceOf } from './metric-schema.ts';

/** A metric that the file names itself, and its place. */
interface NamedMetric {
  readonly series: PolledSeries;
  readonly map: LocatedMap;
}

interface MetricList {
  /** All but presets and what the schema refuses. */
  readonly named: readonly NamedMetric[];
  /** Whether there is nothing else in the list. */
  readonly isAllNamed: boolean;
}

function namedMetric(located: Located): NamedMetric | undefined {
  if (located.kind !== 'map') return undefined;
  const { data } = customMetric.safeParse(plainOf(located));
  const [series] = data === undefined ? [] : seriesOf([metricChoiceOf(data)], []);
  return series === undefined ? undefined : { series, map: located };
}

/** Reads lists, each of them once: with aliases thousands of entries have the same. */
function createReader(): (list: Located | undefined) => MetricList {
  const none: MetricList = { named: [], isAllNamed: false };
  const known = new Map<Located, MetricList>();
  return (list) => {
    if (list?.kind !== 'list') return none;
    const before = known.get(list);
    if (before !== undefined) return before;
    const named = list.items.map(namedMetric).filter((metric) => metric !== undefined);
    const read = { named, isAllNamed: named.length > 0 && named.length === list.items.length };
    known.set(list, read);
    return read;
  };
}

function nameError({ map }: NamedMetric, message: string, help: string): Problem {
  return errorAt(map.entries.get('as')?.value.span, message, help);
}

function overlap(one: MetricScope, other: MetricScope): boolean {
  return one === other || one === 'both' || other === 'both';
}

/** Series of one list that would be the same in Prometheus. */
function equalSeries({ named }: MetricList): readonly Problem[] {
  const seen = new Map<string, MetricScope[]>();
  return named.flatMap((metric) => {
    const { gauge, labels, scope } = metric.series;
    const sorted = Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const key = JSON.stringify([gauge.name, sorted]);
    const before = seen.get(key) ?? [];
    seen.set(key, [...new Set([...before, scope])]);
    if (!before.some((earlier) => overlap(earlier, scope))) return [];
    const message = `an earlier metric of the list has the name "${gauge.name}" and the same labels`;
    return [nameError(metric, message, 'give one of them another name, or other labels')];
  });
}

/** What the other lists of the file say about a gauge that one list has. */
function conflictsOf(
  metric: NamedMetric,
  byName: ReadonlyMap<string, PolledSeries>,
  byHostName: ReadonlyMap<string, PolledSeries>,
): readonly Problem[] {
  const { gauge, scale } = metric.series;
  const same = byName.get(gauge.name);
  if (same !== undefined && (same.gauge.unit !== gauge.unit || same.scale !== scale)) {
    const units = `${unitText(same)} before, ${unitText(metric.series)} here`;
    const message = `the gauge "${gauge.name}" has two units: ${units}`;
    const help = 'give one of them another name, or both the same unit and "scale"';
    return [nameError(metric, message, help)];
  }
  if (same !== undefined && same.gauge.help !== gauge.help) {
    const message = `the gauge "${gauge.name}" has two help texts, this one and an earlier one`;
    const help =
      'write the same "help" wherever the name is used: without it, the text names the metric and the value';
    return [nameError(metric, message, help)];
  }
  const hostsOf = byHostName.get(gauge.name) ?? byName.get(gauge.hostName);
  if (hostsOf === undefined) return [];
  const [name, hostName] =
    hostsOf.gauge.hostName === gauge.name
      ? [hostsOf.gauge.name, gauge.name]
      : [gauge.name, gauge.hostName];
  const message = `"${hostName}" is the name of two gauges: that of the hosts of "${name}" has it, too`;
  return [nameError(metric, message, 'give one of them another name')];
}

/** Gauges that are not the same everywhere in the file: Prometheus knows a gauge by its name alone. */
function conflicts(lists: readonly MetricList[]): readonly Problem[] {
  const byName = new Map<string, PolledSeries>();
  const byHostName = new Map<string, PolledSeries>();
  return lists.flatMap(({ named }) =>
    named.flatMap((metric) => {
      const found = conflictsOf(metric, byName, byHostName);
      const { series } = metric;
      if (!byName.has(series.gauge.name)) byName.set(series.gauge.name, series);
      if (!byHostName.has(series.gauge.hostName)) byHostName.set(series.gauge.hostName, series);
      return found;
    }),
  );
}

/** Label names that both an entry and one of its metrics set. */
function labelsTwice(app: LocatedMap, labels: ReadonlyMap<string, string>): readonly Problem[] {
  const own = app.entries.get('labels')?.value;
  if (own?.kind !== 'map') return [];
  return [...own.entries.values()].flatMap(({ key, keySpan }) => {
    const metric = labels.get(key);
    if (metric === undefined) return [];
    const message = `the label "${key}" is also one of the metric "${metric}" in "metrics"`;
    return [errorAt(keySpan, message, 'leave it out in one of the two places')];
  });
}

/** The names of the labels that the metrics of a list set, each with the name of such a metric. */
function createLabelsOf(): (list: MetricList) => ReadonlyMap<string, string> {
  const known = new Map<MetricList, ReadonlyMap<string, string>>();
  return (list) => {
    const before = known.get(list);
    if (before !== undefined) return before;
    const labels = new Map(
      list.named.flatMap(({ series }) =>
        Object.keys(series.labels).map((label) => [label, series.gauge.name] as const),
      ),
    );
    known.set(list, labels);
    return labels;
  };
}

/** An entry that has only metrics of what it leaves out. */
function nothingToRead(app: LocatedMap, { named, isAllNamed }: MetricList): readonly Problem[] {
  const [noApplication, noHosts] = [isOff(app, 'application'), isOff(app, 'hosts')];
  // Another check reports an entry without both.
  if (!isAllNamed || noApplication === noHosts) return [];
  const [off, scope] = noHosts
    ? (['hosts', 'hosts'] as const)
    : (['application', 'applications'] as const);
  if (named.some(({ series }) => series.scope !== scope)) return [];
  const span = (app.entries.get('metrics')?.value ?? app).span;
  const message = `all metrics are "for: ${scope}", so with "${off}: false" nothing is left to read`;
  return [errorAt(span, message, `leave out "${off}: false", or choose other metrics`)];
}

/**
 * Reports metrics that do not go together: with one another, or with the entries that have them. Works on
 * files that the schema rejects, too; a metric that it rejects is left out.
 */
export function metricProblems(root: Located): readonly Problem[] {
  const read = createReader();
  const labelsOf = createLabelsOf();
  const apps = mapsUnder(root, 'apps').map((app) => ({ app, list: app.entries.get('metrics') }));
  const usual = read(locate(root, ['poll', 'metrics']));
  const lists = [...new Set([usual, ...apps.map(({ list }) => read(list?.value))])];
  return [
    ...lists.flatMap(equalSeries),
    ...conflicts(lists),
    ...apps.flatMap(({ app, list }) => {
      const own = list === undefined ? usual : read(list.value);
      return [...labelsTwice(app, labelsOf(own)), ...nothingToRead(app, own)];
    }),
  ];
}
