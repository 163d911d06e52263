/** Columns of the grid, and the space between panels and beside them, in pixels. */
const columns = 24;
const gap = 8;
const border = 16;

/** The width of a panel of so many columns on a screen of so many pixels. */
export function panelWidth(columnsWide: number, screen: number): number {
  const column = (screen - 2 * border - (columns - 1) * gap) / columns;
  return Math.floor(columnsWide * column + (columnsWide - 1) * gap);
}
