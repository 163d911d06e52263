import type { PolledSeries } from '../model/polled-series.ts';
import type { Unit } from '../model/vendor-value.ts';

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

/** The unit of a series in words, such as `seconds × 1000`. */
export function unitText({ gauge, scale }: Pick<PolledSeries, 'gauge' | 'scale'>): string {
  return scale === 1 ? unitTexts[gauge.unit] : `${unitTexts[gauge.unit]} × ${scale}`;
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
 * The ending of the name of a gauge that states another unit than the values have, and what helps. A scale
 * that no ending stands for is taken for a correction of the metric, which leaves the unit open.
 */
export function wrongEndingOf({
  gauge,
  scale,
}: PolledSeries): readonly [ending: string, remedies: readonly string[]] | undefined {
  const { name, unit } = gauge;
  if (unit === 'as_metric' || unit === 'as_metric_per_second') return undefined;
  const found = scalesOfEndings.find(([ending]) => name.endsWith(ending));
  if (found === undefined) return undefined;
  const [ending, scales] = found;
  const rightScale = scales[unit];
  const sameUnit = scalesOfEndings.filter(([, ofUnit]) => ofUnit[unit] === scale);
  const isKnown = scale === 1 || sameUnit.length > 0;
  if (rightScale === scale || (rightScale !== undefined && !isKnown)) return undefined;
  const rightName = name.slice(0, -ending.length) + (sameUnit[0]?.[0] ?? '');
  const remedies = [
    ...(rightName === '' ? [] : [`"as: ${rightName}"`]),
    ...(rightScale === undefined ? [] : [`"scale: ${rightScale}"`]),
  ];
  return [ending, remedies];
}
