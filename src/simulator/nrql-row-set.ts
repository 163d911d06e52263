import type { NrqlRow } from './nrql-rows.ts';

/** Rows that belong together, such as those of one facet. */
export class NrqlRowSet {
  readonly rows: readonly NrqlRow[];
  #byName: ReadonlyMap<string, NrqlRowSet> | undefined;

  constructor(rows: readonly NrqlRow[]) {
    this.rows = rows;
  }

  where(isMeant: (row: NrqlRow) => boolean): NrqlRowSet {
    return new NrqlRowSet(this.rows.filter(isMeant));
  }

  /**
   * Those of one metric. Without this, a query with twenty columns for twenty metrics would look at each
   * row twenty times.
   */
  ofMetric(name: string): NrqlRowSet {
    this.#byName ??= groupedByName(this.rows);
    return this.#byName.get(name) ?? new NrqlRowSet([]);
  }
}

function groupedByName(rows: readonly NrqlRow[]): ReadonlyMap<string, NrqlRowSet> {
  const groups = new Map<string, NrqlRow[]>();
  for (const row of rows) {
    const name = String(row.attribute('metricTimesliceName'));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return new Map([...groups].map(([name, group]) => [name, new NrqlRowSet(group)]));
}
