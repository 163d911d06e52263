import type { Panel } from './dashboard-files.ts';
import type { Shown } from './fleet.ts';
import { type Choice, filledIn } from './grafana.ts';
import type { Prometheus, Series } from './prometheus.ts';

type Numbers = Record<string, number>;

/** What tells the rows of a table apart. */
const rowLabels = [
  'cluster',
  'instance',
  'account',
  'app_id',
  'host_name',
  'selector',
  'name',
  'query',
];

function rowOf(metric: Series['metric']): string {
  return rowLabels.flatMap((label) => metric[label] ?? []).join(' ');
}

/** By the letters of the queries. */
function columnsOf({ transformations = [] }: Panel): Readonly<Record<string, string>> {
  const options = transformations.map((one) => one.options as { renameByName?: object });
  return Object.assign({}, ...options.map((one) => one.renameByName)) as Record<string, string>;
}

function nameIn({ metric }: Series, legend: string): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '');
}

/** The end of each line, which is NaN if it ended before; of an instant query the value. */
function valueOf({ values, lastTime }: Series, at: number): number {
  const isOver = lastTime !== undefined && lastTime < at;
  return isOver ? Number.NaN : Number((values.at(-1) ?? 0).toPrecision(9));
}

/** What a panel shows at a moment. */
export async function shownIn(
  panel: Panel,
  choice: Choice,
  at: number,
  prometheus: Prometheus,
): Promise<Shown> {
  const { targets = [], title, type } = panel;
  const columns = columnsOf(panel);
  const rows: Record<string, Numbers> = {};
  const numbers: Numbers = {};
  for (const { expr, instant, refId, legendFormat = '' } of targets) {
    const text = filledIn(expr, choice, '135s');
    const { error, series } = instant
      ? await prometheus.query(text, at)
      : await prometheus.queryRange(text, { start: at - 3600, end: at, step: 60 });
    if (error !== '') throw new Error(`${title}: ${error}`);
    const column = columns[targets.length === 1 ? 'Value' : `Value #${refId}`] ?? '';
    for (const one of series) {
      const row = rowOf(one.metric);
      rows[row] = { ...rows[row], [column]: valueOf(one, at) };
      numbers[nameIn(one, legendFormat)] = valueOf(one, at);
    }
  }
  return type === 'table' ? rows : (numbers[title] ?? numbers);
}
