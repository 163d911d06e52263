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

export interface PanelOptions {
  readonly title: string;
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

/** What a kind of panel has beside what all panels have. */
interface Kind {
  readonly type: string;
  /** Expressions by the names of their series; in the order of the letters. */
  readonly queries: readonly (readonly [name: string | undefined, expr: string])[];
  readonly isInstant: boolean;
  readonly defaults: JsonObject;
  readonly options: JsonObject;
  readonly more?: JsonObject;
}

export const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function makePanel(options: PanelOptions, kind: Kind): Panel {
  const { title, description, unit = 'none', decimals, id, w = 12, h = 8, limit, links } = options;
  const { type, queries, isInstant, defaults, more } = kind;
  const usesRates = queries.some(([, expr]) => expr.includes('$__rate_interval'));
  const targets = queries.map(([legendFormat, expr], index) => ({
    refId: letters[index],
    datasource: dataSource,
    editorMode: 'code',
    expr,
    legendFormat,
    format: type === 'table' ? 'table' : 'time_series',
    instant: isInstant,
    range: !isInstant,
  }));
  const thresholds = thresholdsOf(limit);
  const color = { mode: 'thresholds' };
  const fieldConfig = {
    defaults: { unit, decimals, color, thresholds, links, ...defaults },
    overrides: options.overrides ?? [],
  };
  // Two scrapes a minute apart, whatever Grafana believes the interval of scrapes to be.
  const interval = usesRates ? '2m' : undefined;
  const frame = { type, title, description, datasource: dataSource, interval };
  return {
    id,
    size: { w, h },
    json: { ...frame, targets, fieldConfig, options: kind.options, ...more },
  };
}

/** One expression, or several by the names of their series. */
type Shown = string | Readonly<Record<string, string>>;

export interface TileOptions extends PanelOptions {
  readonly shows: Shown;
  readonly map?: JsonObject;
  /** Where some installations or applications never have a value: "no data" is then no alarm. */
  readonly mayLack?: true;
}

/**
 * One number of the present, or a few with their names. What reaches a limit fills the tile with its
 * colour, and so does "no data"; everything else has none. A course behind the number would need the
 * whole range, and the last point of a range may be as old as its step: half an hour if a week is shown.
 */
export function tile(options: TileOptions): Panel {
  const { shows, map, mayLack, title } = options;
  const isOne = typeof shows === 'string';
  const mappings = [
    mayLack === true ? words.nothing : words.noData,
    ...(map === undefined ? [] : [map]),
  ];
  return makePanel(
    { w: 6, h: 3, ...options },
    {
      type: 'stat',
      // Without a name the expression is shown when the mouse rests on the tile.
      queries: isOne ? [[title, shows]] : Object.entries(shows),
      isInstant: true,
      defaults: { noValue: 'no data', mappings },
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
  );
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
export function compared({ value, shown, difference, ...options }: ComparedOptions): Panel {
  const now = value((selected) => selected);
  const then = value(aWeekAgo);
  const [change, unit, decimals] =
    difference === undefined
      ? [`(${now}) / ((${then}) > 0) - 1`, 'percentunit', 0]
      : [`${difference[0]} * ((${now}) - (${then}))`, difference[1], 2];
  const plain = { unit, decimals, thresholds: thresholdsOf(undefined), mappings: [words.nothing] };
  return tile({
    ...options,
    mayLack: true,
    shows: { now: shown ?? now, 'against last week': change },
    overrides: [field('against last week', plain)],
  });
}

export interface GraphOptions extends PanelOptions {
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
export function graph(options: GraphOptions): Panel {
  const { lines, isStacked, max, softMax, needs, maxDataPoints, legendWidth, limit } = options;
  // Names alone: "the last value" of a series that has ended would show the past as the present.
  const legend = { showLegend: true, displayMode: 'list', calcs: [] };
  const placement = legendWidth === undefined ? 'bottom' : 'right';
  return makePanel(options, {
    type: 'timeseries',
    queries: Object.entries(lines),
    isInstant: false,
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
    options: {
      legend: { ...legend, placement, width: legendWidth },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    more: { maxDataPoints },
  });
}
