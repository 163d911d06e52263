import type { JsonObject } from './json.ts';
import { noData, nothing } from './mappings.ts';
import { makePanel, type Panel, type PanelKind, type PanelOptions, type Query } from './panel.ts';

export interface TileOptions extends PanelOptions {
  /** The course over the range behind the number. */
  readonly hasCourse?: true;
  /** Where some installations or applications never have a value: "no data" is then no alarm. */
  readonly mayLack?: true;
}

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

/** With the last of the range as it is: "last that is not null" would be a value of the past. */
const numberAndCourse: PanelKind = {
  ...number,
  isInstant: false,
  baseColor: 'text',
  options: {
    ...number.options,
    reduceOptions: { calcs: ['last'], fields: '', values: false },
    colorMode: 'value',
    graphMode: 'area',
  },
};

/** Ends with NaN where the series has ended, which without it would end with its last value. */
function withEnd({ expr, ...rest }: Query): Query {
  return { ...rest, expr: `${expr} or vector(NaN)` };
}

/**
 * One number, or a few with their names. What reaches a threshold fills the tile with its colour,
 * and so does "no data"; everything else has none.
 */
export function tile(options: TileOptions): Panel {
  const { hasCourse = false, mayLack = false, queries, mappings = [] } = options;
  const kind = hasCourse ? numberAndCourse : number;
  const hasNames = queries.some(({ legend }) => legend !== undefined);
  const names: JsonObject = { orientation: 'vertical', textMode: 'value_and_name' };
  return makePanel(
    {
      width: 6,
      height: 4,
      ...options,
      queries: hasCourse ? queries.map(withEnd) : queries,
      mappings: [mayLack ? nothing : noData, ...mappings],
    },
    hasNames ? { ...kind, options: { ...kind.options, ...names } } : kind,
  );
}
