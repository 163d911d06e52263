import type { PresetName } from '../src/model/presets.ts';
import { field, type Limit, thresholdsOf, words } from './colors.ts';
import type { Json, JsonObject } from './json.ts';
import { aWeekAgo } from './selectors.ts';

export const dataSource: JsonObject = { type: 'prometheus', uid: '$datasource' };

/** A panel without its place. */
export interface Panel {
  readonly id: number | undefined;
  readonly size: { readonly w: number; readonly h: number };
  readonly json: JsonObject;
}

interface PanelOptions {
  readonly description: string;
  readonly unit?: string;
  readonly decimals?: number;
  /** Stands in links that open the panel alone; from 100 on, as the others are counted from 1. */
  readonly id?: number;
  /** Of the 24 columns of the grid. */
  readonly w?: number;
  readonly h?: number;
  /** What is wrong from a value on. */
  readonly limit?: Limit;
  readonly links?: readonly Json[];
  readonly overrides?: readonly Json[];
}

type Query = readonly [name: string | undefined, expr: string];

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** What all panels have, with what one of this type has beside it. Queries go by the order of the letters. */
function panel(
  type: 'stat' | 'table' | 'timeseries',
  title: string,
  options: PanelOptions,
  queries: readonly Query[],
  own: { readonly defaults: JsonObject; readonly json: JsonObject },
): Panel {
  const { description, unit = 'none', decimals, id, w = 12, h = 8, limit, links } = options;
  const targets = queries.map(([legendFormat, expr], index) => ({
    refId: letters[index],
    datasource: dataSource,
    editorMode: 'code',
    expr,
    legendFormat,
    format: type === 'table' ? 'table' : 'time_series',
    instant: type !== 'timeseries',
    range: type === 'timeseries',
  }));
  const plain = { unit, decimals, color: { mode: 'thresholds' }, thresholds: thresholdsOf(limit) };
  const fieldConfig = {
    defaults: { ...plain, links, ...own.defaults },
    overrides: options.overrides ?? [],
  };
  // Two scrapes a minute apart, whatever Grafana believes the interval of scrapes to be.
  const interval = queries.some(([, expr]) => expr.includes('$__rate_interval')) ? '2m' : undefined;
  const frame = { type, title, description, datasource: dataSource, interval };
  return { id, size: { w, h }, json: { ...frame, targets, fieldConfig, ...own.json } };
}

interface TileOptions extends PanelOptions {
  /** One expression, or several by the names of their series. */
  readonly shows: string | Readonly<Record<string, string>>;
  readonly map?: JsonObject;
  /** Where some installations or applications never have a value: "no data" is then no alarm. */
  readonly mayLack?: true;
}

/**
 * One number of the present, or a few with their names. What reaches a limit fills the tile with its
 * colour, and so does "no data"; everything else has none. A course behind the number would need the
 * whole range, and the last point of a range may be as old as its step: half an hour if a week is shown.
 */
export function tile(title: string, options: TileOptions): Panel {
  const { shows, map, mayLack } = options;
  const isOne = typeof shows === 'string';
  const missing = mayLack === true ? words.nothing : words.noData;
  const mappings = map === undefined ? [missing] : [missing, map];
  // Without a name the expression is shown when the mouse rests on the tile.
  const queries: readonly Query[] = isOne ? [[title, shows]] : Object.entries(shows);
  return panel('stat', title, { w: 6, h: 3, ...options }, queries, {
    defaults: { noValue: 'no data', mappings },
    json: {
      options: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        colorMode: 'background_solid',
        graphMode: 'none',
        justifyMode: 'auto',
        // Several stand side by side.
        orientation: isOne ? 'auto' : 'vertical',
        textMode: isOne ? 'value' : 'value_and_name',
        // Several of one size, also if one has more digits.
        text: isOne ? undefined : { titleSize: 12, valueSize: 26 },
        wideLayout: false,
      },
    },
  });
}

interface ComparedOptions extends Omit<TileOptions, 'shows' | 'overrides' | 'mayLack'> {
  /** The value, given what becomes of each selector. */
  readonly value: (at: (selected: string) => string) => string;
  /** What is shown instead of the value, if that is not what is compared. */
  readonly shown?: string;
  /** Where a share of the value would say little: the difference times this, in this unit. */
  readonly difference?: readonly [times: number, unit: string];
}

/** A number, and how it has changed against the same time last week. */
export function compared(title: string, options: ComparedOptions): Panel {
  const { value, shown, difference, ...others } = options;
  const now = value((selected) => selected);
  const then = value(aWeekAgo);
  const [change, unit, decimals] =
    difference === undefined
      ? [`(${now}) / ((${then}) > 0) - 1`, 'percentunit', 0]
      : [`${difference[0]} * ((${now}) - (${then}))`, difference[1], 2];
  const plain = { unit, decimals, thresholds: thresholdsOf(undefined), mappings: [words.nothing] };
  return tile(title, {
    ...others,
    mayLack: true,
    shows: { now: shown ?? now, 'against last week': change },
    overrides: [field('against last week', plain)],
  });
}

interface GraphOptions extends PanelOptions {
  /** Expressions by the names of their lines, with labels in double braces. */
  readonly lines: Readonly<Record<string, string>>;
  readonly isStacked?: true;
  readonly max?: number;
  /** The axis reaches at least so far, so that noise round 0 does not fill the panel. */
  readonly softMax?: number;
  /** What it shows is only read where the configuration asks for these. */
  readonly needs?: readonly PresetName[];
  /** At most so many moments: where each costs much, and one a minute says no more. */
  readonly maxDataPoints?: number;
  /** In pixels: names of lines that are too long to stand below. */
  readonly legendWidth?: number;
}

/** Lines over time, with the limit as a line if there is one. */
export function graph(title: string, options: GraphOptions): Panel {
  const { lines, isStacked, max, softMax, needs, maxDataPoints, legendWidth, limit } = options;
  // Names alone: "the last value" of a series that has ended would show the past as the present.
  const legend = { showLegend: true, displayMode: 'list', calcs: [] };
  const placement = legendWidth === undefined ? 'bottom' : 'right';
  return panel('timeseries', title, options, Object.entries(lines), {
    defaults: {
      min: 0,
      max,
      noValue: needs && `No data in this range (needs metrics: [${needs.join(', ')}])`,
      color: { mode: 'palette-classic' },
      custom: {
        axisSoftMax: softMax,
        drawStyle: 'line',
        fillOpacity: isStacked ? 30 : 0,
        lineInterpolation: 'linear',
        lineWidth: 1,
        scaleDistribution: { type: 'linear' },
        // Of few moments each would be a point of its own.
        showPoints: maxDataPoints === undefined ? 'auto' : 'never',
        spanNulls: false,
        stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
        thresholdsStyle: { mode: limit === undefined ? 'off' : 'dashed' },
      },
    },
    json: {
      options: {
        legend: { ...legend, placement, width: legendWidth },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
      maxDataPoints,
    },
  });
}

/** A label that begins a row. */
interface LabelColumn {
  readonly title: string;
  /** In pixels. */
  readonly width?: number;
  readonly links?: readonly Json[];
  /** Stands behind the columns: for what is the same in most rows. */
  readonly isLast?: true;
}

/** A column of its own query. */
export interface Column {
  readonly expr: string;
  readonly unit?: string;
  readonly width?: number;
  readonly decimals?: number;
  /** Fills the cell with a colour where something is wrong. */
  readonly limit?: Limit;
  readonly map?: JsonObject;
}

interface TableOptions extends Omit<PanelOptions, 'overrides' | 'unit' | 'links' | 'limit'> {
  /** Labels that begin a row. One that no series has makes no column. */
  readonly labels: Readonly<Record<string, LabelColumn>>;
  readonly columns: Readonly<Record<string, Column>>;
  /** What is said instead of a table without rows. */
  readonly noRows?: string;
  /** Titles of columns, the first one first, and what is on top. */
  readonly sortBy?: Readonly<Record<string, 'greatest' | 'least'>>;
}

function fieldOfLabel({ title, width, links }: LabelColumn): JsonObject {
  // An id is a label of digits, which is no number.
  return field(title, { unit: 'string', 'custom.width': width, links, noValue: '' });
}

function fieldOfColumn([title, column]: readonly [string, Column]): JsonObject {
  const { unit = 'none', width, decimals, limit, map } = column;
  const plain = { unit, 'custom.width': width, decimals, noValue: '' };
  if (limit === undefined && map === undefined) return field(title, plain);
  return field(title, {
    ...plain,
    mappings: map === undefined ? [words.blank] : [map],
    thresholds: limit && thresholdsOf(limit),
    'custom.cellOptions': { type: 'color-background', mode: 'basic' },
  });
}

/** A table of the present: one row for each combination of the labels. */
export function table(title: string, options: TableOptions): Panel {
  const { labels, columns, noRows, sortBy = {} } = options;
  const titles = Object.keys(columns);
  // Of a merged table the column of each query; one query alone makes the column `Value`.
  const values = titles.map((_, n) => (titles.length === 1 ? 'Value' : `Value #${letters[n]}`));
  const [first, last] = [undefined, true].map((isLast) =>
    Object.keys(labels).filter((name) => labels[name]?.isLast === isLast),
  );
  const order = [...(first ?? []), ...values, ...(last ?? [])];
  const names = [
    ...Object.entries(labels).map(([label, column]) => [label, column.title] as const),
    ...titles.map((name, n) => [values[n] ?? '', name] as const),
  ];
  const overrides = [
    ...Object.values(labels).map(fieldOfLabel),
    ...Object.entries(columns).map(fieldOfColumn),
  ];
  const queries = Object.values(columns).map(({ expr }) => [undefined, expr] as const);
  return panel('table', title, { w: 24, ...options, overrides }, queries, {
    defaults: {
      noValue: noRows,
      custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: false, minWidth: 60 },
    },
    json: {
      options: {
        cellHeight: 'sm',
        showHeader: true,
        sortBy: Object.entries(sortBy).map(([displayName, top]) => ({
          displayName,
          desc: top === 'greatest',
        })),
      },
      transformations: [
        { id: 'merge', options: {} },
        {
          id: 'organize',
          options: {
            excludeByName: { Time: true },
            indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
            renameByName: Object.fromEntries(names),
          },
        },
      ],
    },
  });
}
