import type { Series } from './prometheus.ts';

/** The value of a series at a minute of the history; `undefined` where it has none. */
export type Story = (series: Series, minute: number) => number | undefined;

export interface Chapter {
  /** In seconds since the epoch. */
  readonly end: number;
  readonly minutes: number;
  readonly story: Story;
}

export const asItIs: Story = ({ values }) => values[0];

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** A series as it stands in an exposition. */
function seriesName(metric: Series['metric']): string {
  const { __name__: name = '', ...labels } = metric;
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return `${name}{${pairs.join(',')}}`;
}

/** Series with a sample each minute, in the format that promtool imports. */
export function historyOf(present: readonly Series[], chapters: readonly Chapter[]): string {
  const lines = chapters.flatMap(({ end, minutes, story }) =>
    present.flatMap((series) => {
      const name = seriesName(series.metric);
      return Array.from({ length: minutes + 1 }, (_, minute) => {
        const value = story(series, minute);
        const time = end - (minutes - minute) * 60;
        return value === undefined || !Number.isFinite(value) ? [] : [`${name} ${value} ${time}`];
      }).flat();
    }),
  );
  return `${lines.join('\n')}\n# EOF\n`;
}
