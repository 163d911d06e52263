/** The value of a series, which is written exactly as in the exposition; `undefined` if absent. */
export function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** All series of one metric, without their values. */
export function seriesOf(text: string, metric: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));
}
