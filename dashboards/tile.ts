import type { JsonObject } from './json.ts';
import { noData, nothing } from './mappings.ts';
import { makePanel, type Panel, type PanelKind, type PanelOptions } from './panel.ts';

export interface TileOptions extends PanelOptions {
  /** Where some installations or applications never have a value: "no data" is then no alarm. */
  readonly mayLack?: true;
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
  const { mayLack = false, title, mappings = [] } = options;
  const hasNames = options.queries.some(({ legend }) => legend !== undefined);
  // Without a name the expression is shown when the mouse rests on the tile.
  const queries = options.queries.map((query) => ({ legend: title, ...query }));
  const names: JsonObject = { orientation: 'vertical', textMode: 'value_and_name' };
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
