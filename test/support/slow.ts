import { it } from 'vitest';

/** What takes long and says more of what a faster test says: `npm test` leaves it out, CI does not. */
export const slow = { tags: 'slow' };

/** A table like that of `it.each`, of which all rows but the first ones are slow. */
export function eachAfter<Row extends object | number | string>(
  quick: number,
  rows: readonly Row[],
): (name: string, check: (row: Row) => Promise<void> | void) => void {
  return (name, check) => {
    it.each(rows.slice(0, quick))(name, check);
    it.each(rows.slice(quick))(name, slow, check);
  };
}
