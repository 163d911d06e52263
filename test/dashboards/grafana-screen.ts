/*
 * Sizes in pixels, measured in pictures of Grafana 12.2 at 1280 x 720, with its menu at the left.
 */
const columns = 24;
const menu = 302;
const topBar = 82;
const border = 15;
const gap = 8;
/** Of a unit of the height of panels, with the gap below it. */
const unit = 38;
/** Beside the time range, from the left. */
const controls = 510;

/** The width of a panel of so many columns on a screen of so many pixels. */
export function panelWidth(columnsWide: number, screen: number): number {
  const column = (screen - menu - 2 * border - (columns - 1) * gap) / columns;
  return Math.floor(columnsWide * column + (columnsWide - 1) * gap);
}

/** Advance widths of Inter in thousandths of the size of the font, by characters; others have 600. */
const advances: Readonly<Record<string, number>> = {
  "ijlI'.,:": 260,
  ' ': 280,
  'ftr()/-': 380,
  csJ: 550,
  avxyzkeEFLz: 580,
  ABKPRSTXYZ: 650,
  CDGHNOQUV: 750,
  mMW: 920,
  w: 800,
};

/** The width of a title of a panel, in 14 pixels of Inter. */
function titleWidth(title: string): number {
  const known = Object.entries(advances);
  const thousandths = Array.from(
    title,
    (character) => known.find(([characters]) => characters.includes(character))?.[1] ?? 600,
  );
  return (14 * thousandths.reduce((sum, width) => sum + width, 0)) / 1000;
}

/** Whether a title is shown whole beside the sign of its description. */
export function isTitleWhole(title: string, columnsWide: number, screen: number): boolean {
  return titleWidth(title) <= panelWidth(columnsWide, screen) - 73;
}

/** Where the grid of panels ends that fits on a screen of this height, in units of the grid. */
export function visibleRows(controlWidths: readonly number[], screenHeight: number): number {
  const lines = controlWidths.reduce<readonly number[]>((before, width) => {
    const last = before.at(-1) ?? 0;
    const isFull = last > 0 && last + 10 + width > controls;
    return isFull ? [...before, width] : [...before.slice(0, -1), last + 10 + width];
  }, []);
  const gridTop = 22 + 40 * lines.length;
  return (screenHeight - topBar - gridTop + gap) / unit;
}

type WidthOf = (text: string) => number;

/** About the width of a variable with its value, of a switch of annotations and of a link. */
export const controlWidth: Readonly<Record<'variable' | 'annotation' | 'link', WidthOf>> = {
  variable: (label) => 7 * label.length + 140,
  annotation: (name) => 8 * name.length + 38,
  link: (title) => 6 * title.length + 40,
};
