import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { VendorMetric } from '../../model/presets.ts';
import { mayBeNegative, type ValueName, vendorValues } from '../../model/vendor-value.ts';
import type { InvalidSampleListener } from '../json.ts';
import { type Column, columnText, nrqlText } from './nrql.ts';
import { type Cell, type NrqlValue, nrqlValueOf, type TimesliceFunction } from './nrql-values.ts';

export const subjects = ['applications', 'hosts'] as const;
/** What is read of: applications as a whole, or their hosts. */
export type Subject = (typeof subjects)[number];

/** A value that a row of an answer has. */
export interface ColumnValue extends VendorMetric {
  /** Its place among all values that are read. */
  readonly index: number;
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
  readonly columns: readonly Column[];
  readonly values: readonly ColumnValue[];
}

/** What is read of each subject. */
export type BatchColumns = Readonly<Record<Subject, readonly ColumnSet[]>>;

/**
 * The length of a query at most. New Relic says that there is a limit, but not which: for a rule with a
 * query it is 4096 characters.
 */
export const maxNrqlCharacters = 4000;
/**
 * Leaves room for an id and any condition, both that for parts of the hosts and one with the longest name of
 * a host. So there are 30 columns at most; all presets together need 17. Answers of 2500 rows with 60 become
 * 12 MB of memory when they are parsed, the most that a process with little memory accepts.
 */
const maxColumnCharacters = 0.625 * maxNrqlCharacters;

/** Identifies what a series is read from. */
export function valueKeyOf({ metric, value }: VendorMetric): string {
  return `${metric}\n${value}`;
}

/**
 * The columns for what these series are read from, each once. There is one set of each subject, or none if
 * nothing is read of it, or several if one query would become too long. The order of the series does not
 * matter: applications with the same in another order share queries.
 */
export function columnsOf(series: readonly PolledSeries[]): BatchColumns {
  return { applications: setsOf(series, 'applications'), hosts: setsOf(series, 'hosts') };
}

function setsOf(series: readonly PolledSeries[], subject: Subject): readonly ColumnSet[] {
  const read = new Map(
    series.filter((one) => isReadOf(subject, one)).map((one) => [valueKeyOf(one), one]),
  );
  const sets: ColumnSet[] = [];
  let open = new OpenSet();
  const close = (): void => {
    if (open.values.length > 0) sets.push({ columns: open.columns, values: open.values });
    open = new OpenSet();
  };
  for (const [index, key] of [...read.keys()].toSorted().entries()) {
    const one = read.get(key);
    if (one === undefined) continue;
    const nrqlValue = nrqlValueOf(one);
    if (!open.hasRoom(one.metric, nrqlValue)) close();
    open.add(one, index, nrqlValue);
  }
  close();
  return sets;
}

/** A set that is being filled. */
class OpenSet {
  readonly columns: Column[] = [];
  readonly values: ColumnValue[] = [];
  #characters = 0;

  hasRoom(metric: string, { functions }: NrqlValue): boolean {
    const added = functions.filter((of) => this.#placeOf(metric, of) === -1);
    const characters = added.reduce((sum, of) => sum + lengthOf(metric, of), this.#characters);
    return this.columns.length === 0 || characters <= maxColumnCharacters;
  }

  add({ metric, value }: VendorMetric, index: number, nrqlValue: NrqlValue): void {
    const { functions, isAmount, valueOf } = nrqlValue;
    const places = functions.map((of) => this.#columnFor(metric, of));
    this.values.push({
      metric,
      value,
      index,
      isAmount,
      valueOf: (cells, seconds, onInvalid) => {
        const own = places.map((place) => cells[place]);
        return validOf(value, valueOf(own, seconds), onInvalid);
      },
    });
  }

  #columnFor(metric: string, of: TimesliceFunction): number {
    const known = this.#placeOf(metric, of);
    if (known !== -1) return known;
    this.#characters += lengthOf(metric, of);
    return this.columns.push({ name: `c${this.columns.length + 1}`, metric, of }) - 1;
  }

  #placeOf(metric: string, of: TimesliceFunction): number {
    return this.columns.findIndex((column) => column.metric === metric && column.of === of);
  }
}

function validOf(
  name: ValueName,
  value: number | undefined,
  onInvalid: InvalidSampleListener,
): number | undefined {
  if (value === undefined || value >= 0 || mayBeNegative(vendorValues[name])) return value;
  onInvalid('negative');
  return undefined;
}

/** What a column adds to a query: its own text, and its metric in the list of all. */
function lengthOf(metric: string, of: TimesliceFunction): number {
  return `, ${columnText({ name: 'c99', metric, of })},${nrqlText(metric)}`.length;
}

export function valuesByKey(sets: readonly ColumnSet[]): ReadonlyMap<string, ColumnValue> {
  return new Map(sets.flatMap(({ values }) => values.map((value) => [valueKeyOf(value), value])));
}
