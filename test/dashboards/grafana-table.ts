import type { Panel } from './dashboard-files.ts';
import { colorName } from './grafana-colors.ts';
import type { Field, FieldValue } from './grafana-data.ts';
import { addressesOf, type Drawing, type Prepared } from './grafana-fields.ts';

export interface Cell {
  readonly text: string;
  readonly value: FieldValue;
  /** `text` where the cell does not show its colour. */
  readonly color: string;
  readonly isFilled: boolean;
  readonly links: readonly string[];
}

export interface ShownTable {
  readonly kind: 'table';
  readonly header: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** What it says without rows. */
  readonly whenEmpty: string;
}

function optionOf({ config }: Field, name: string, key: string): unknown {
  const option = config.custom?.[name];
  return typeof option === 'object' && option !== null
    ? (option as Record<string, unknown>)[key]
    : undefined;
}

function isShown(field: Field): boolean {
  return field.config.custom?.['hidden'] !== true && optionOf(field, 'hideFrom', 'viz') !== true;
}

function cellOf(field: Field, row: number, { grafana, theme }: Drawing): Cell {
  const value = field.values[row];
  const display = field.display?.(value) ?? { text: String(value), numeric: Number.NaN };
  const type = optionOf(field, 'cellOptions', 'type');
  const cellType = typeof type === 'string' ? type : 'auto';
  const isColored = cellType.startsWith('color-') || cellType === 'gauge' || cellType === 'pill';
  return {
    value,
    text: grafana.formattedValueToString(display),
    color: isColored ? colorName(display.color, theme) : 'text',
    isFilled: cellType === 'color-background' || cellType === 'pill',
    links: addressesOf(field.getLinks?.({ valueRowIndex: row })),
  };
}

/** As the table compares: nothing is less than anything. */
function compare(one: FieldValue, other: FieldValue): number {
  if (one === other) return 0;
  if (one === undefined || one === null) return -1;
  if (other === undefined || other === null) return 1;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one) < String(other) ? -1 : 1;
}

/** The panel `table`. */
export function tableOf(
  { options = {} }: Panel,
  { frames, fieldConfig }: Prepared,
  drawing: Drawing,
): ShownTable {
  const whenEmpty = fieldConfig.defaults.noValue ?? 'No data';
  const [frame] = frames;
  if (frame === undefined) return { kind: 'table', header: [], rows: [], whenEmpty };
  const nameOf = (field: Field): string =>
    drawing.grafana.getFieldDisplayName(field, frame, frames);
  const order = Array.from({ length: frame.length }, (_, row) => row);
  const sorted = (options.sortBy ?? [])
    .toReversed()
    .reduce((rows, { displayName, desc = false }) => {
      const field = frame.fields.find((one) => nameOf(one) === displayName);
      if (field === undefined)
        throw new Error(`The table is sorted by a column that it lacks: ${displayName}`);
      const sign = desc ? -1 : 1;
      return rows.toSorted((one, other) => sign * compare(field.values[one], field.values[other]));
    }, order);
  const fields = frame.fields.filter(isShown);
  return {
    kind: 'table',
    header: fields.map(nameOf),
    rows: sorted.map((row) => fields.map((field) => cellOf(field, row, drawing))),
    whenEmpty,
  };
}
