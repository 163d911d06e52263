import type { Panel } from './dashboard-files.ts';
import type { ShownGraph } from './grafana-graph.ts';
import type { Shown } from './grafana-panels.ts';
import type { ShownStates, State } from './grafana-states.ts';
import type { Cell, ShownTable } from './grafana-table.ts';
import type { Tile } from './grafana-tiles.ts';

/** A text with its colour, where that is not the colour of all text. */
function colored(text: string, color: string, isFilled: boolean): string {
  if (color === 'text' || color === 'transparent' || color === '') return text;
  if (text.trim() === '' && !isFilled) return '';
  return isFilled ? `${text} (on ${color})` : `${text} (${color})`;
}

/** Lines of cells below each other. */
function aligned(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join(' | ')
      .trimEnd(),
  );
}

/** Of calls and of the time that they take: no two runs are alike. */
const varying =
  /^(?:Calls failing|Failed calls|Demand|Highest demand|Longest pause|Pause|Pause after 429)$/;

/** Without a number that differs from run to run, but whether there is one. */
function roughly(text: string): string {
  if (/^\d+ seconds?$/.test(text) && !text.startsWith('0 ')) return 'some seconds';
  return /[1-9]/.test(text) ? 'more than 0' : text;
}

function ofTile(title: string, { name, text, color, isFilled }: Tile): readonly string[] {
  return [name, colored(varying.test(title) ? roughly(text) : text, color, isFilled)];
}

/** A cell as it is, if it is the same in every run. The version of Node.js is that of the machine. */
function steady(title: string, text: string): string {
  if (varying.test(title) || /^\d+ seconds?$/.test(text)) return roughly(text);
  return text.replace(/^v\d+\.\d+\.\d+$/, 'v0.0.0');
}

function ofTable({ header, rows, whenEmpty }: ShownTable): readonly string[] {
  if (rows.length === 0) return [whenEmpty];
  const cellText = ({ text, color, isFilled }: Cell, column: number): string =>
    colored(steady(header[column] ?? '', text), color, isFilled);
  return aligned([header, ...rows.map((row) => row.map(cellText))]);
}

/** Whether it shows what the process used that the exporters of the test ran in. */
function isOfProcess({ targets = [] }: Panel): boolean {
  return targets.some(({ expr }) => /\b(?:process|nodejs)_/.test(expr));
}

/** Only the throughput is the same in every run; of the rest, whether there is any, in the order of names. */
function ofGraph(panel: Panel, { lines, whenEmpty }: ShownGraph): readonly string[] {
  if (lines.length === 0) return [whenEmpty];
  if (isOfProcess(panel)) return lines.map(({ name }) => name).toSorted();
  if (panel.fieldConfig?.defaults.unit === 'reqpm') {
    return aligned(lines.map(({ name, last }) => [name, last]));
  }
  const rough = lines.map(({ name, last }) => [name, roughly(last)]);
  return aligned(rough.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)));
}

function ofStates({ type }: Panel, { rows, complaint, whenEmpty }: ShownStates): readonly string[] {
  if (complaint !== '') return [complaint];
  if (rows.length === 0) return [whenEmpty];
  // Its cells are shades of a colour, each a little different from the next.
  if (type === 'status-history') return rows.map(({ name }) => name);
  const stateText = ({ text, color }: State): string => colored(text, color, false);
  return aligned(rows.map(({ name, states }) => [name, states.map(stateText).join(', then ')]));
}

/** A panel as lines that a person can read. */
export function textOf(panel: Panel, shown: Shown): string {
  const indented = (lines: readonly string[]): string =>
    lines.map((line) => `  ${line}`).join('\n');
  switch (shown.kind) {
    case 'tiles': {
      const tiles = shown.tiles.map((tile) => ofTile(panel.title, tile));
      if (panel.type === 'stat' && tiles.length === 1)
        return `${panel.title}: ${tiles[0]?.[1] ?? ''}`;
      return `${panel.title}\n${indented(aligned(tiles))}`;
    }
    case 'table':
      return `${panel.title}\n${indented(ofTable(shown))}`;
    case 'graph':
      return `${panel.title}\n${indented(ofGraph(panel, shown))}`;
    case 'states':
      return `${panel.title}\n${indented(ofStates(panel, shown))}`;
  }
}

/** A text with its colour. */
export interface Colored {
  readonly text: string;
  readonly color: string;
  readonly isFilled: boolean;
}

/** What is shown of the present in colours. */
export function colorsIn(shown: Shown): readonly Colored[] {
  if (shown.kind === 'tiles') return shown.tiles;
  return shown.kind === 'table' ? shown.rows.flat() : [];
}
