import type { Json, JsonObject } from './json.ts';
import { makePanel, type Panel, type PanelOptions } from './panel.ts';

/** A column of its own query. */
export interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly mappings?: readonly Json[];
}

export interface TableOptions extends Omit<PanelOptions, 'queries' | 'overrides' | 'unit'> {
  /** Labels that begin a row, with their titles. */
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that every query has and nobody wants to see. */
  readonly hidden?: readonly string[];
  readonly columns: readonly Column[];
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Of a merged table the column of the nth query; one query alone makes the column `Value`. */
function fieldOf(columns: readonly Column[], index: number): string {
  return columns.length === 1 ? 'Value' : `Value #${letters[index] ?? ''}`;
}

function overrideOf({ title, unit, mappings }: Column): JsonObject {
  return {
    matcher: { id: 'byName', options: title },
    properties: [
      { id: 'unit', value: unit },
      ...(mappings === undefined ? [] : [{ id: 'mappings', value: mappings }]),
    ],
  };
}

/** A table of the present: one row for each combination of the labels. */
export function table(options: TableOptions): Panel {
  const { labels, columns, hidden = [] } = options;
  const titles = Object.fromEntries(columns.map(({ title }, n) => [fieldOf(columns, n), title]));
  const order = [...Object.keys(labels), ...Object.keys(titles)];
  const excluded = ['Time', ...hidden].map((name) => [name, true] as const);
  return makePanel(
    {
      width: 24,
      height: 10,
      ...options,
      unit: 'short',
      queries: columns.map(({ expr }) => ({ expr })),
      overrides: columns.map(overrideOf),
    },
    {
      type: 'table',
      isInstant: true,
      format: 'table',
      custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true },
      options: { cellHeight: 'sm', footer: { show: false }, showHeader: true },
      transformations: [
        { id: 'merge', options: {} },
        {
          id: 'organize',
          options: {
            excludeByName: Object.fromEntries(excluded),
            indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
            renameByName: { ...labels, ...titles },
          },
        },
      ],
    },
  );
}
