import { type Html, html } from './html.ts';
import { rateText } from './number-text.ts';

const height = 20;

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

/** A line from 0 to the highest value, with gaps where there is no value, and with the numbers as text for those who cannot see it. */
export function sparkline(history: readonly (number | undefined)[]): Html {
  const highest = Math.max(0, ...history.filter((value) => value !== undefined));
  const path = history.map((value, x) => {
    if (value === undefined) return '';
    const y = height - Math.round((Math.max(0, value) / (highest || 1)) * height);
    if (history[x - 1] !== undefined) return `L${x} ${y}`;
    // A single point would have no length, and be invisible.
    return `M${x} ${y}${history[x + 1] === undefined ? 'h.5' : ''}`;
  });
  const width = Math.max(1, history.length - 1);
  return html`<svg class="spark" viewBox="0 -1 ${width} ${height + 2}" preserveAspectRatio="none" role="img"><title>${historyText(history)}</title><path d="${path}"/></svg>`;
}
