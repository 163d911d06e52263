import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { VendorMetric } from '../../model/presets.ts';
import { growsWithWindow, mayBeNegative, vendorValues } from '../../model/vendor-value.ts';
import type { InvalidSampleListener } from '../answer.ts';
import { columnText, type MetricColumn, nrqlText } from './nrql.ts';
import { type Cell, nrqlValueOf } from './nrql-values.ts';

export const subjects = ['applications', 'hosts'] as const;
/** What is read of: applications as a whole, or their hosts. */
export type ColumnSubject = (typeof subjects)[number];

/** A value that a row of an answer has. */
export interface ColumnValue extends Pick<VendorMetric, 'metric'> {
  /** That of the series that are read from it. */
  readonly key: string;
  readonly isAmount: boolean;
  /**
   * In the unit of `vendorValues`; `undefined` if there is none, or only one that cannot be.
   *
   * @param cells one for each column of the set
   * @param seconds length of the window
   */
  readonly valueOf: (
    cells: readonly Cell[],
    seconds: number,
    onInvalid: InvalidSampleListener,
  ) => number | undefined;
}

/** The columns of one query, and the values that they make up. */
export interface ColumnSet {
  readonly columns: readonly MetricColumn[];
  readonly values: readonly ColumnValue[];
  /** Whether one of the values grows with the window, such as a count. */
  readonly needsLength: boolean;
}

/**
 * The length of a query at most. New Relic says that there is a limit, but not which: for a rule with a
 * query it is 4096 characters.
 */
export const maxNrqlCharacters = 4000;
/**
 * Leaves room for an id and any condition, both that for parts of the hosts and one with the longest name of
 * a host. So there are 30 columns at most; all presets together need fewer. Answers of 2500 rows with 60 become
 * 12 MB of memory when they are parsed, the most that a process with little memory accepts.
 */
const maxColumnCharacters = 0.625 * maxNrqlCharacters;

/** Identifies what a series is read from. */
export function valueKeyOf({ metric, value }: Record<keyof VendorMetric, string>): string {
  return `${metric}\n${value}`;
}

/**
 * The columns for what these series are read from of the subject, each once: one set, or none if nothing is
 * read of it, or several if one query would become too long. The order of the series does not matter:
 * applications with the same in another order share queries.
 */
export function columnsOf(
  series: readonly PolledSeries[],
  subject: ColumnSubject,
): readonly ColumnSet[] {
  const read = new Map(
    series.filter((one) => isReadOf(subject, one)).map((one) => [valueKeyOf(one), one]),
  );
  const sorted = [...read].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const sets: { columns: MetricColumn[]; values: ColumnValue[]; needsLength: boolean }[] = [];
  for (const [key, { metric, value }] of sorted) {
    const { functions, isAmount, valueOf } = nrqlValueOf({ metric, value });
    const wanted = functions.map((of) => ({ name: '', metric, of }));
    const last = sets.at(-1);
    const isOpen = last !== undefined && hasRoom(last.columns, wanted);
    const set = isOpen ? last : { columns: [], values: [], needsLength: false };
    if (!isOpen) sets.push(set);
    set.needsLength ||= growsWithWindow(value);
    const { columns, values }: (typeof sets)[number] = set;
    for (const column of wanted) {
      if (columnPlace(columns, column) === -1) {
        columns.push({ ...column, name: `c${columns.length + 1}` });
      }
    }
    const places = wanted.map((column) => columnPlace(columns, column));
    const isSigned = mayBeNegative(vendorValues[value]);
    values.push({
      key,
      metric,
      isAmount,
      valueOf: (cells, seconds, onInvalid) => {
        const own = places.map((place) => cells[place]);
        const found = valueOf(own, seconds);
        if (found === undefined || found >= 0 || isSigned) return found;
        onInvalid('negative');
        return undefined;
      },
    });
  }
  return sets;
}

function hasRoom(columns: readonly MetricColumn[], wanted: readonly MetricColumn[]): boolean {
  const lacking = wanted.filter((column) => columnPlace(columns, column) === -1);
  // What a column adds to a query: its own text, and its metric in the list of all.
  const texts = [...columns, ...lacking].map(
    ({ metric, of }) => `, ${columnText({ name: 'c99', metric, of })},${nrqlText(metric)}`,
  );
  return texts.join('').length <= maxColumnCharacters;
}

function columnPlace(columns: readonly MetricColumn[], { metric, of }: MetricColumn): number {
  return columns.findIndex((column) => column.metric === metric && column.of === of);
}
