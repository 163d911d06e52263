import { type Html, html } from './html.ts';
import { rateText } from './number-text.ts';

const height = 20;

/** `undefined` splits a line: a gap stays a gap. */
function linesOf(points: readonly (number | undefined)[]): readonly (readonly Point[])[] {
  const lines: Point[][] = [[]];
  for (const [x, y] of points.entries()) {
    if (y === undefined) lines.push([]);
    else lines.at(-1)?.push([x, y]);
  }
  return lines.filter((line) => line.length > 0);
}
type Point = readonly [x: number, y: number];

/** Steps from point to point are short to write, and compress well. */
function pathOf(line: readonly Point[]): string {
  const [[x, y] = [0, 0], ...rest] = line;
  let fromX = x;
  let fromY = y;
  let path = `M${x} ${y}`;
  // A single point would have no length, and be invisible.
  if (rest.length === 0) return `${path}h.5`;
  for (const [toX, toY] of rest) {
    path += toY === fromY ? `h${toX - fromX}` : `l${toX - fromX} ${toY - fromY}`;
    fromX = toX;
    fromY = toY;
  }
  return path;
}

/** The numbers of an hour in a sentence. */
export function historyText(history: readonly (number | undefined)[]): string {
  const values = history.filter((value) => value !== undefined);
  const last = values.at(-1);
  if (last === undefined) return 'No values in the last hour';
  const lowest = rateText(Math.min(...values));
  const highest = rateText(Math.max(...values));
  return lowest === highest
    ? `Last hour: always ${lowest} requests per minute`
    : `Last hour: ${lowest} to ${highest} requests per minute, last ${rateText(last)}`;
}

/** A line from 0 to the highest value, with the numbers as text for those who cannot see it. */
export function sparkline(history: readonly (number | undefined)[]): Html {
  const highest = Math.max(0, ...history.filter((value) => value !== undefined));
  const points = history.map((value) => {
    if (value === undefined) return undefined;
    return highest === 0 ? height : height - Math.round((Math.max(0, value) / highest) * height);
  });
  const path = linesOf(points).map(pathOf).join('');
  const width = Math.max(1, history.length - 1);
  return html`<svg class="spark" viewBox="0 -1 ${width} ${height + 2}" preserveAspectRatio="none" role="img"><title>${historyText(history)}</title><path d="${path}"/></svg>`;
}
