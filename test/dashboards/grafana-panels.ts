import type { Panel } from './dashboard-files.ts';
import type { Frame } from './grafana-data.ts';
import { type Drawing, prepared } from './grafana-fields.ts';
import { graphOf, type ShownGraph } from './grafana-graph.ts';
import { type ShownStates, statesOf } from './grafana-states.ts';
import { type ShownTable, tableOf } from './grafana-table.ts';
import { type ShownTiles, tilesOf } from './grafana-tiles.ts';

/** What people see in a panel, besides its title. */
export type Shown = ShownTiles | ShownTable | ShownGraph | ShownStates;

/** Draws a panel of so many pixels' width, in words. */
export function draw(
  panel: Panel,
  frames: readonly Frame[],
  width: number,
  drawing: Drawing,
): Shown {
  const ready = prepared(panel, frames, drawing);
  switch (panel.type) {
    case 'stat':
    case 'gauge':
    case 'bargauge':
      return tilesOf(panel, ready, drawing);
    case 'table':
      return tableOf(panel, ready, drawing);
    case 'timeseries':
      return graphOf(panel, ready, drawing);
    case 'state-timeline':
    case 'status-history':
      return statesOf(panel, ready, width, drawing);
    default:
      throw new Error(`The tests cannot draw a panel of the kind ${panel.type}`);
  }
}
