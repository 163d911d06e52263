import { field, type Limit, thresholdsOf, words } from './colors.ts';
import type { Json, JsonObject } from './json.ts';
import { letters, makePanel, type Panel, type PanelOptions } from './panel.ts';

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

function columnOf([title, column]: readonly [string, Column]): JsonObject {
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
export function table(options: TableOptions): Panel {
  const { labels, columns, noRows, sortBy = {} } = options;
  const titles = Object.keys(columns);
  // Of a merged table the column of each query; one query alone makes the column `Value`.
  const values = titles.map((_, n) => (titles.length === 1 ? 'Value' : `Value #${letters[n]}`));
  const [first, last] = [undefined, true].map((isLast) =>
    Object.keys(labels).filter((name) => labels[name]?.isLast === isLast),
  );
  const order = [...(first ?? []), ...values, ...(last ?? [])];
  const names = [
    ...Object.entries(labels).map(([label, { title }]) => [label, title] as const),
    ...titles.map((title, n) => [values[n] ?? '', title] as const),
  ];
  // An id is a label of digits, which is no number.
  const ofLabels = Object.values(labels).map(({ title, width, links }) =>
    field(title, { unit: 'string', 'custom.width': width, links, noValue: '' }),
  );
  return makePanel(
    { w: 24, ...options, overrides: [...ofLabels, ...Object.entries(columns).map(columnOf)] },
    {
      type: 'table',
      queries: Object.values(columns).map(({ expr }) => [undefined, expr]),
      isInstant: true,
      defaults: {
        noValue: noRows,
        custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: false, minWidth: 60 },
      },
      options: {
        cellHeight: 'sm',
        showHeader: true,
        sortBy: Object.entries(sortBy).map(([displayName, top]) => ({
          displayName,
          desc: top === 'greatest',
        })),
      },
      more: {
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
    },
  );
}
