import { type MetricScope, type PolledSeries, seriesOf } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { unitText } from './gauge-unit.ts';
import { isOff, type Located, type LocatedMap, locate, mapsUnder, plainOf } from './located.ts';
import { customMetric, metricChoiceOf } from './metric-schema.ts';

/** A metric that the file names itself, and its place. */
interface NamedMetric {
  readonly series: PolledSeries;
  /** The help text, if it is written. */
  readonly help: string | undefined;
  readonly map: LocatedMap;
}

/** Only texts that are written are compared. */
const noHelps: ReadonlyMap<string, string> = new Map();

interface MetricList {
  /** All but presets and what the schema refuses. */
  readonly named: readonly NamedMetric[];
  /** Whether there is nothing else in the list. */
  readonly isAllNamed: boolean;
}

function namedMetric(located: Located): NamedMetric | undefined {
  if (located.kind !== 'map') return undefined;
  const { data } = customMetric.safeParse(plainOf(located));
  if (data === undefined) return undefined;
  const [series] = seriesOf([metricChoiceOf(data, noHelps)], []);
  return series === undefined ? undefined : { series, help: data.help, map: located };
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
    return nameError(metric, message, help);
  }
  const helpBefore = known.helps.get(gauge.name);
  if (metric.help !== undefined && (helpBefore ?? metric.help) !== metric.help) {
    const message = `the gauge "${gauge.name}" has two help texts, this one and an earlier one`;
    const span = metric.map.entries.get('help')?.value.span;
    return errorAt(span, message, 'write "help" once, or the same text, or choose another name');
  }
  const other = known.byHostName.get(gauge.name) ?? known.byName.get(gauge.hostName);
  if (other === undefined) return undefined;
  const [name, hostName] =
    other.gauge.hostName === gauge.name
      ? [other.gauge.name, gauge.name]
      : [gauge.name, gauge.hostName];
  const message = `"${hostName}" is the name of two gauges: that of the hosts of "${name}" has it, too`;
  return nameError(metric, message, 'give one of them another name');
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
