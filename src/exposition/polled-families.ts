import {
  type GaugePair,
  isReadOf,
  type PolledSeries,
  presetGauges,
  seriesLabels,
  type Values,
} from '../model/polled-series.ts';
import {
  type AppFamily,
  cachedNotice,
  type FamilyHead,
  fixedFamilies,
  type HostLabelsOf,
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

function gaugesOf(
  series: readonly PolledSeries[],
  what: 'applications' | 'hosts',
): ReadonlyMap<GaugePair, readonly GaugeSeries[]> {
  const byName = new Map<string, { readonly gauge: GaugePair; readonly series: GaugeSeries[] }>();
  for (const [index, one] of series.entries()) {
    if (!isReadOf(what, one)) continue;
    const known = byName.get(one.gauge.name) ?? { gauge: one.gauge, series: [] };
    known.series.push({ index, labels: renderLabels(Object.entries(seriesLabels(one))) });
    byName.set(one.gauge.name, known);
  }
  return new Map([...byName.values()].map(({ gauge, series: own }) => [gauge, own]));
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
  const ofApplications = [...gaugesOf(all, 'applications')].map(
    ([{ name, help }, series]): AppFamily => ({
      name,
      help: `${help} ${cachedNotice}`,
      samplesOf: ({ reading }) =>
        samplesOf(series, reading === undefined ? [] : [['', reading.application]], () => ''),
    }),
  );
  const ofHosts = [...gaugesOf(all, 'hosts')].map(
    ([{ hostName, hostHelp }, series]): AppFamily => ({
      name: hostName,
      help: `${hostHelp} ${cachedNotice}`,
      isOfHosts: true,
      samplesOf: ({ reading }, hostLabelsOf) =>
        samplesOf(series, reading?.hosts ?? [], hostLabelsOf),
    }),
  );
  return [...ofApplications, ...ofHosts];
}

const presetPositions = positionsOf(presetGauges.flatMap(({ name, hostName }) => [name, hostName]));
const fixedPositions = positionsOf(fixedFamilies.map(({ name }) => name));

function positionsOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, index) => [name, index]));
}

/** Presets come first, then the metrics that configurations name, then what every application has. */
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
