import {
  type PolledSeries,
  totalOf,
  type Values,
  valuesByTransaction,
} from '../../model/polled-series.ts';
import type { PresetName } from '../../model/presets.ts';
import type { Column } from './list.ts';
import { gaveNoValue, rateText, secondsText } from './number-text.ts';

/** The values of an application or of a host, which is a row of a list. */
export interface RowValues {
  readonly series: readonly PolledSeries[];
  readonly values: Values | undefined;
}

interface Measure {
  readonly key: string;
  readonly label: string;
  readonly preset: PresetName;
  /** Without it, of all transactions together. */
  readonly transactionType?: 'web' | 'other';
  readonly text: (value: number) => string;
}

const always: readonly Measure[] = [
  { key: 'web', label: 'Web', preset: 'throughput', transactionType: 'web', text: rateText },
  { key: 'other', label: 'Other', preset: 'throughput', transactionType: 'other', text: rateText },
];

/** Only some configurations ask for these. */
const sometimes: readonly Measure[] = [
  {
    key: 'web_time',
    label: 'Web time',
    preset: 'response_time',
    transactionType: 'web',
    text: secondsText,
  },
  {
    key: 'other_time',
    label: 'Other time',
    preset: 'response_time',
    transactionType: 'other',
    text: secondsText,
  },
  { key: 'errors', label: 'Errors', preset: 'errors', text: rateText },
];

function valueOf(
  { preset, transactionType }: Measure,
  { series, values }: RowValues,
): number | undefined {
  if (!series.some((one) => one.preset === preset)) return undefined;
  const byType = valuesByTransaction(preset, series, values);
  return transactionType === undefined ? totalOf(byType) : byType.get(transactionType);
}

/** Throughput, and of response time and errors what any of the rows has; and what a caption says of them. */
export function valueColumns<Row>(
  rows: readonly Row[],
  valuesOf: (row: Row) => RowValues,
): { readonly columns: readonly Column<Row>[]; readonly caption: string } {
  const more = sometimes.filter((measure) =>
    rows.some((row) => valueOf(measure, valuesOf(row)) !== undefined),
  );
  const columns = [...always, ...more].map((measure): Column<Row> => {
    const sortValue = (row: Row): number | undefined => valueOf(measure, valuesOf(row));
    return {
      key: measure.key,
      label: measure.label,
      className: `n c-${measure.key}`,
      isDescendingFirst: true,
      sortValue,
      cell: (row) => {
        const value = sortValue(row);
        return value === undefined ? gaveNoValue : measure.text(value);
      },
    };
  });
  const others = more.length > 0 ? ', average response time, errors per minute' : '';
  return { columns, caption: `Throughput in requests per minute${others}` };
}
