import type { Panel, Target } from './dashboard-files.ts';
import { type Choice, filledIn } from './grafana.ts';
import type { Prometheus, Series } from './prometheus.ts';
import type { Shown } from './situations.ts';

type Numbers = Record<string, number>;

/** What tells the rows of a table apart. */
const rowLabels = ['cluster', 'instance', 'account', 'app_id', 'host_name', 'selector', 'name'];

function rowOf(metric: Series['metric']): string {
  return rowLabels.flatMap((label) => metric[label] ?? []).join(' ');
}

/** Numbers as far as a screen shows them. */
function rounded(value: number): number {
  return Number(value.toPrecision(9));
}

function titlesOf({ transformations = [] }: Panel): readonly string[] {
  const organize = transformations.find(({ id }) => id === 'organize');
  const { renameByName } = organize?.options as { readonly renameByName: Record<string, string> };
  return Object.entries(renameByName)
    .filter(([name]) => name.startsWith('Value'))
    .map(([, title]) => title);
}

/** What a panel shows at a moment; of a graph the end of each line, which is NaN if it ended before. */
export async function shownIn(
  panel: Panel,
  choice: Choice,
  at: number,
  prometheus: Prometheus,
): Promise<Shown> {
  const ask = async ({ expr, instant }: Target): Promise<readonly Series[]> => {
    const text = filledIn(expr, choice, '135s');
    const { error, series } = await (instant
      ? prometheus.query(text, at)
      : prometheus.queryRange(text, { start: at - 3600, end: at, step: 60 }));
    if (error !== '') throw new Error(`${panel.title}: ${error}`);
    return series;
  };
  const answers = await Promise.all((panel.targets ?? []).map(ask));
  if (panel.type === 'table') {
    const rows: Record<string, Numbers> = {};
    const titles = titlesOf(panel);
    for (const [n, series] of answers.entries()) {
      for (const { metric, values } of series) {
        const cells = (rows[rowOf(metric)] ??= {});
        cells[titles[n] ?? ''] = rounded(values.at(-1) ?? Number.NaN);
      }
    }
    return rows;
  }
  const numbers: Numbers = {};
  for (const [n, series] of answers.entries()) {
    for (const { metric, values, lastTime } of series) {
      const legend = panel.targets?.[n]?.legendFormat ?? '';
      const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '');
      const isOver = lastTime !== undefined && lastTime < at - 60;
      numbers[name] = isOver ? Number.NaN : rounded(values.at(-1) ?? Number.NaN);
    }
  }
  return numbers[panel.title] ?? numbers;
}
