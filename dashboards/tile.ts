import type { JsonObject } from './json.ts';
import { noData, nothing } from './mappings.ts';
import { byName, thresholdsOf } from './overrides.ts';
import { makePanel, type Panel, type PanelKind, type PanelOptions } from './panel.ts';
import { aWeekAgo } from './selectors.ts';

export interface TileOptions extends PanelOptions {
  /** Where some installations or applications never have a value: "no data" is then no alarm. */
  readonly mayLack?: true;
  /** Says the name of the series instead of its value. */
  readonly isName?: true;
}

/**
 * Asks for the present only. A course behind the number would need the whole range, and the last
 * point of a range may be as old as its step: half an hour if a week is shown.
 */
const number: PanelKind = {
  type: 'stat',
  isInstant: true,
  noValue: 'no data',
  baseColor: 'transparent',
  options: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: 'background_solid',
    graphMode: 'none',
    justifyMode: 'auto',
    orientation: 'auto',
    textMode: 'value',
    wideLayout: false,
  },
};

/**
 * One number, or a few with their names. What reaches a threshold fills the tile with its colour,
 * and so does "no data"; everything else has none.
 */
export function tile(options: TileOptions): Panel {
  const { mayLack = false, isName = false, title, mappings = [] } = options;
  const hasNames = options.queries.some(({ legend }) => legend !== undefined);
  // Without a name the expression is shown when the mouse rests on the tile.
  const queries = options.queries.map((query) => ({ legend: title, ...query }));
  const names: JsonObject = {
    orientation: 'vertical',
    textMode: isName ? 'name' : 'value_and_name',
  };
  return makePanel(
    {
      width: 6,
      height: 4,
      ...options,
      queries,
      mappings: [mayLack ? nothing : noData, ...mappings],
    },
    hasNames ? { ...number, options: { ...number.options, ...names } } : number,
  );
}

interface ComparedOptions extends Omit<TileOptions, 'queries' | 'overrides'> {
  /** The value, given what becomes of each selector. */
  readonly value: (at: (selected: string) => string) => string;
  /** In the unit of the value, where a share of it would say little. */
  readonly isDifference?: true;
}

/** A number, and how it has changed against the same time last week. */
export function compared({ value, isDifference, ...options }: ComparedOptions): Panel {
  const now = value((selected) => selected);
  const then = value(aWeekAgo);
  const change = isDifference
    ? { expr: `(${now}) - (${then})`, unit: options.unit, decimals: 2 }
    : { expr: `(${now}) / ((${then}) > 0) - 1`, unit: 'percentunit', decimals: 0 };
  const { unit, decimals } = change;
  const plain = { unit, decimals, thresholds: thresholdsOf([]), mappings: [nothing] };
  return tile({
    ...options,
    overrides: [byName('since last week', plain)],
    queries: [
      { expr: now, legend: 'now' },
      { expr: change.expr, legend: 'since last week' },
    ],
  });
}
