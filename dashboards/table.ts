import type { Json, JsonObject } from './json.ts';
import { blank } from './mappings.ts';
import { byName, type Properties, thresholdsOf } from './overrides.ts';
import { makePanel, type Panel, type PanelOptions, type Threshold } from './panel.ts';

/** A label that begins a row. */
export interface LabelColumn {
  readonly title: string;
  /** In pixels. */
  readonly width?: number;
  readonly links?: readonly Json[];
  /** Stands behind the columns: for what is the same in most rows. */
  readonly isLast?: true;
}

/** A column of its own query. */
export interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly width?: number;
  readonly decimals?: number;
  readonly mappings?: readonly Json[];
  readonly thresholds?: readonly Threshold[];
  /**
   * `state` fills the cell with the colour of its mapping or threshold; `shade`
   * fills it the more, the nearer it is to the greatest of its column.
   */
  readonly cell?: 'state' | 'shade';
  readonly links?: readonly Json[];
}

export interface TableOptions
  extends Omit<PanelOptions, 'queries' | 'overrides' | 'unit' | 'links'> {
  /** Labels that begin a row. One that no series has makes no column. */
  readonly labels: Readonly<Record<string, LabelColumn>>;
  readonly columns: readonly Column[];
  /** Titles of columns, the first one first, and what is on top. */
  readonly sortBy?: readonly (readonly [title: string, top: 'greatest' | 'least'])[];
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Of a merged table the column of the nth query; one query alone makes the column `Value`. */
function fieldOf(columns: readonly Column[], index: number): string {
  return columns.length === 1 ? 'Value' : `Value #${letters[index] ?? ''}`;
}

/** From 0 to the greatest number of the column. Otherwise that of all columns counts. */
const ownRange: Properties = { min: 0, fieldMinMax: true };

function cellOf({ cell }: Column): Properties {
  if (cell === 'state') {
    return { 'custom.cellOptions': { type: 'color-background', mode: 'basic' } };
  }
  if (cell === 'shade') {
    return {
      'custom.cellOptions': { type: 'color-background', mode: 'gradient' },
      color: { mode: 'continuous-blues' },
      ...ownRange,
      mappings: [blank],
    };
  }
  return {};
}

function columnOverride(column: Column): JsonObject {
  const { title, unit, width, decimals, mappings, thresholds, links } = column;
  return byName(title, {
    unit,
    'custom.width': width,
    decimals,
    mappings,
    thresholds: thresholds === undefined ? undefined : thresholdsOf(thresholds),
    ...cellOf(column),
    links,
  });
}

function labelOverride({ title, width, links }: LabelColumn): JsonObject {
  // An id is a label of digits, which is no number.
  return byName(title, { unit: 'string', 'custom.width': width, links });
}

/** A table of the present: one row for each combination of the labels. */
export function table(options: TableOptions): Panel {
  const { labels, columns, sortBy = [] } = options;
  const titles = Object.fromEntries(columns.map(({ title }, n) => [fieldOf(columns, n), title]));
  const labelTitles = Object.entries(labels).map(([name, { title }]) => [name, title] as const);
  const last = Object.keys(labels).filter((name) => labels[name]?.isLast === true);
  const first = Object.keys(labels).filter((name) => !last.includes(name));
  const order = [...first, ...Object.keys(titles), ...last];
  return makePanel(
    {
      width: 24,
      height: 10,
      ...options,
      unit: 'short',
      queries: columns.map(({ expr }) => ({ expr })),
      overrides: [...Object.values(labels).map(labelOverride), ...columns.map(columnOverride)],
    },
    {
      type: 'table',
      isInstant: true,
      format: 'table',
      baseColor: 'transparent',
      custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: false, minWidth: 70 },
      options: {
        cellHeight: 'sm',
        showHeader: true,
        sortBy: sortBy.map(([displayName, top]) => ({ displayName, desc: top === 'greatest' })),
      },
      transformations: [
        { id: 'merge', options: {} },
        {
          id: 'organize',
          options: {
            excludeByName: { Time: true },
            indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
            renameByName: { ...Object.fromEntries(labelTitles), ...titles },
          },
        },
      ],
    },
  );
}
