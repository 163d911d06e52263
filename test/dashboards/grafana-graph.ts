import type { Panel } from './dashboard-files.ts';
import { colorName } from './grafana-colors.ts';
import type { Field } from './grafana-data.ts';
import { addressesOf, type Drawing, type Prepared } from './grafana-fields.ts';

export interface Line {
  readonly name: string;
  /** The last value, with its unit. */
  readonly last: string;
  readonly values: readonly (number | null)[];
  readonly color: string;
  readonly unit: string;
  /** Where a click on a point leads. */
  readonly links: readonly string[];
}

export interface ShownGraph {
  readonly kind: 'graph';
  /** In the order of the legend. */
  readonly lines: readonly Line[];
  /** The ends of the axis; the highest as a text. */
  readonly axis: { readonly min: number; readonly max: number; readonly maxText: string };
  /** What it says instead of lines. */
  readonly whenEmpty: string;
}

function numbersOf({ values }: Field): readonly (number | null)[] {
  return values.map((value) =>
    typeof value === 'number' && Number.isFinite(value) ? value : null,
  );
}

/** The sums that stacked lines reach, one for each moment. */
function heights(
  fields: readonly Field[],
  times: readonly (readonly unknown[])[],
): readonly number[] {
  const stacked = new Map<unknown, number>();
  const single: number[] = [];
  for (const [index, field] of fields.entries()) {
    const { mode = 'none' } = (field.config.custom?.['stacking'] ?? {}) as {
      readonly mode?: string;
    };
    for (const [moment, value] of numbersOf(field).entries()) {
      if (value === null) continue;
      const time = times[index]?.[moment];
      if (mode === 'none') single.push(value);
      else stacked.set(time, (stacked.get(time) ?? 0) + value);
    }
  }
  return [...single, ...stacked.values()];
}

/** The axis, as uPlot ranges it: 0 to 100 for nothing but zeros, unless a soft limit is lower. */
function axisOf(
  fields: readonly Field[],
  values: readonly number[],
  drawing: Drawing,
): ShownGraph['axis'] {
  const [first] = fields;
  const { min, max, custom = {}, unit = '', decimals } = first?.config ?? {};
  const limits = [custom['axisSoftMin'], custom['axisSoftMax']].filter(
    (limit) => typeof limit === 'number',
  );
  const found = [...values, ...limits];
  const low = min ?? Math.min(0, ...found);
  const high = max ?? Math.max(...found, low);
  const top = high > low ? high : 100;
  const format = drawing.grafana.getValueFormat(unit);
  return {
    min: low,
    max: top,
    maxText: drawing.grafana.formattedValueToString(format(top, decimals)),
  };
}

/** As `VizLegendTable` sorts; a legend that is a list has the order of the answers. */
function inOrder(
  lines: readonly Line[],
  numeric: readonly number[],
  { options = {} }: Panel,
): readonly Line[] {
  const { displayMode, sortBy, sortDesc = false } = options.legend ?? {};
  if (displayMode !== 'table' || sortBy === undefined) return lines;
  const order = lines.map((line, index) => ({ line, value: numeric[index] ?? Number.NaN }));
  const sign = sortDesc ? -1 : 1;
  const sorted = order.toSorted((one, other) => {
    if (sortBy === 'Name')
      return sign * one.line.name.localeCompare(other.line.name, 'en', { numeric: true });
    return sign * (one.value - other.value);
  });
  return sorted.map(({ line }) => line);
}

/** The panel `timeseries`. */
export function graphOf(
  panel: Panel,
  { frames, fieldConfig }: Prepared,
  drawing: Drawing,
): ShownGraph {
  const { grafana, theme } = drawing;
  const all = frames.flatMap((frame) => {
    const times = frame.fields.find(({ type }) => type === 'time')?.values ?? [];
    const drawn = frame.fields.filter(({ type }) => type === 'number');
    return drawn.map((field) => ({ field, frame, times }));
  });
  const lasts = all.map(
    ({ field }) => grafana.reduceField({ field, reducers: ['lastNotNull'] })['lastNotNull'],
  );
  const lines = all.map(({ field, frame }, index) => {
    const display = field.display?.(lasts[index] ?? null);
    return {
      name: grafana.getFieldDisplayName(field, frame, frames),
      last: display === undefined ? '' : grafana.formattedValueToString(display),
      values: numbersOf(field),
      color: colorName(grafana.getFieldSeriesColor(field, theme).color, theme),
      unit: field.config.unit ?? '',
      links: addressesOf(field.getLinks?.({ valueRowIndex: frame.length - 1 })),
    };
  });
  const fields = all.map(({ field }) => field);
  const values = heights(
    fields,
    all.map(({ times }) => times),
  );
  return {
    kind: 'graph',
    lines: inOrder(
      lines,
      lasts.map((last) => last ?? Number.NaN),
      panel,
    ),
    axis: axisOf(fields, values, drawing),
    whenEmpty: fieldConfig.defaults.noValue ?? 'No data',
  };
}
