import type { Timeslice } from './timeslice.ts';

/** An attribute of data; `null` if the data does not have it. */
export type NrqlValue = string | number | null;

/** The data of one metric of one host in the window of a query, or events that are alike. */
export interface NrqlRow {
  attribute(name: string): NrqlValue;
  timeslice(): Timeslice;
  /** How many records it stands for: of a metric one for each minute in which the host ran. */
  records(): number;
}

/** Rows that belong together, such as those of one facet. */
export class NrqlRowSet {
  readonly rows: readonly NrqlRow[];
  #byName: ReadonlyMap<string, NrqlRowSet> | undefined;

  constructor(rows: readonly NrqlRow[]) {
    this.rows = rows;
  }

  /**
   * Those of one metric. Without this, a query with twenty columns for twenty metrics would look at each
   * row twenty times.
   */
  ofMetric(name: string): NrqlRowSet {
    this.#byName ??= groupedByMetric(this.rows);
    return this.#byName.get(name) ?? new NrqlRowSet([]);
  }
}

function groupedByMetric(rows: readonly NrqlRow[]): ReadonlyMap<string, NrqlRowSet> {
  const groups = new Map<string, NrqlRow[]>();
  for (const row of rows) {
    const name = String(row.attribute('metricTimesliceName'));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return new Map([...groups].map(([name, group]) => [name, new NrqlRowSet(group)]));
}
