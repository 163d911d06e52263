import type { Query } from '../model/config.ts';
import { onOneLine } from '../model/line-text.ts';
import {
  type GaugePair,
  isReadOf,
  type PolledSeries,
  presetGauges,
  seriesLabels,
  type Values,
} from '../model/polled-series.ts';
import type { QuerySnapshot } from '../model/snapshot.ts';
import {
  type AppFamily,
  cachedNotice,
  type Family,
  type FamilyHead,
  fixedFamilies,
  type HostLabelsOf,
  oneFlag,
  oneSample,
  oneTimestamp,
  upFamily,
} from './families.ts';
import { renderLabels, type Sample } from './render.ts';

/** The families of an application whose reading has these series, in the order of the page. */
export function familiesOf(series: readonly PolledSeries[]): readonly AppFamily[] {
  return inPageOrder([...polledFamilies(series), ...fixedFamilies]);
}

/** A series of a gauge: the index of its value in a reading, and its labels, rendered. */
interface GaugeSeries {
  readonly index: number;
  readonly labels: string;
}

function gaugesOf(series: readonly PolledSeries[], what: 'applications' | 'hosts') {
  const byName = new Map<string, { readonly gauge: GaugePair; readonly series: GaugeSeries[] }>();
  for (const [index, one] of series.entries()) {
    if (!isReadOf(what, one)) continue;
    const known = byName.get(one.gauge.name) ?? { gauge: one.gauge, series: [] };
    known.series.push({ index, labels: renderLabels(Object.entries(seriesLabels(one))) });
    byName.set(one.gauge.name, known);
  }
  return [...byName.values()];
}

/** Yields one at a time: an application may have many thousands of hosts. */
function* samplesOf(
  series: readonly GaugeSeries[],
  readings: Iterable<readonly [hostId: string, values: Values]>,
  hostLabelsOf: HostLabelsOf,
): Iterable<Sample> {
  for (const [hostId, values] of readings) {
    const host = hostLabelsOf(hostId);
    for (const { index, labels } of series) {
      const value = values[index];
      if (value !== undefined && Number.isFinite(value)) yield { host, labels, value };
    }
  }
}

function polledFamilies(all: readonly PolledSeries[]): readonly AppFamily[] {
  const ofApplications = gaugesOf(all, 'applications').map(
    ({ gauge: { name, help }, series }): AppFamily => ({
      name,
      help: `${help} ${cachedNotice}`,
      samplesOf: ({ reading }) =>
        samplesOf(series, reading === undefined ? [] : [['', reading.application]], () => ''),
    }),
  );
  const ofHosts = gaugesOf(all, 'hosts').map(
    ({ gauge: { hostName, hostHelp }, series }): AppFamily => ({
      name: hostName,
      help: `${hostHelp} ${cachedNotice}`,
      isOfHosts: true,
      samplesOf: ({ reading }, hostLabelsOf) =>
        samplesOf(series, reading?.hosts ?? [], hostLabelsOf),
    }),
  );
  return [...ofApplications, ...ofHosts];
}

/** Characters of the NRQL in a help text. */
const longestNrql = 200;

/** The families of a query, in the order of the page. */
export function queryFamiliesOf({
  name: query,
  gauges,
  help,
  written,
}: Query): readonly Family<QuerySnapshot>[] {
  const labels = renderLabels([['query', query]]);
  // A quotation mark would have to be escaped in one of the two formats.
  const text = help ?? `${onOneLine(written, longestNrql).replaceAll('"', "'")}.`;
  return inPageOrder([
    ...gauges.map(
      ({ name }, index): Family<QuerySnapshot> => ({
        name,
        help: `${text} ${cachedNotice}`,
        samplesOf: ({ reading, query: { labels: constant } }) =>
          (reading?.series ?? [])
            .filter(({ gauge }) => gauge === index)
            .map(({ labels: own, value }) => ({
              labels: renderLabels([...own, ...Object.entries(constant)]),
              value,
            })),
      }),
    ),
    {
      name: 'newrelic_query_success',
      help: 'Whether the last poll of the query got its rows (1) or not (0).',
      samplesOf: ({ pollSucceeded }) => oneFlag(pollSucceeded, labels),
    },
    {
      name: 'newrelic_query_last_success_timestamp_seconds',
      help: 'When a poll of the query last got its rows, in seconds since the epoch.',
      samplesOf: ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs, labels),
    },
    {
      name: 'newrelic_query_rows',
      help: `Rows that New Relic gave for the query, whatever became of them. ${cachedNotice}`,
      samplesOf: ({ reading }) => oneSample(reading?.rows, labels),
    },
  ]);
}

const presetPositions = positionsOf([
  upFamily.name,
  ...presetGauges.flatMap(({ name, hostName }) => [name, hostName]),
]);
const fixedPositions = positionsOf(fixedFamilies.map(({ name }) => name));

function positionsOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, index) => [name, index]));
}

/** `newrelic_up` and the presets come first, then the metrics that configurations name, then what every application has. */
export function inPageOrder<Head extends FamilyHead>(families: readonly Head[]): readonly Head[] {
  const places = new Map(families.map(({ name }) => [name, placeOf(name)] as const));
  return families.toSorted(({ name: left }, { name: right }) => {
    const difference = (places.get(left) ?? 0) - (places.get(right) ?? 0);
    if (difference !== 0) return difference;
    return left < right ? -1 : 1;
  });
}

function placeOf(name: string): number {
  const fixed = fixedPositions.get(name);
  const preset = presetPositions.get(name);
  return fixed === undefined ? (preset ?? presetPositions.size) : presetPositions.size + 1 + fixed;
}
