import type { Dashboard } from './dashboard-files.ts';
import { type DataSource, openDashboard } from './grafana-dashboard.ts';
import type { GrafanaData } from './grafana-data.ts';
import { panelWidth } from './grafana-screen.ts';
import type { SituationsPrometheus } from './situations-prometheus.ts';

/** What a panel gets from Prometheus, and what it makes of it. */
export interface PanelAnswers {
  /** The uid of the dashboard and the title of the panel. */
  readonly where: string;
  readonly type: string;
  /** What Prometheus or the panel complains about; empty if nothing is wrong. */
  readonly problem: string;
  /** The series of all its queries. */
  readonly series: number;
  /** Those with a number. */
  readonly filled: number;
  /** Of its longest series. */
  readonly points: number;
  /** In pixels. */
  readonly width: number;
  /** How long Prometheus took for its slowest query. */
  readonly slowestMs: number;
}

interface Recorded {
  readonly values: readonly (readonly string[])[];
  readonly tookMs: number;
}

function valuesOf({ result }: Awaited<ReturnType<DataSource['query']>>): Recorded['values'] {
  return (
    result as readonly {
      value?: readonly [number, string];
      values?: readonly (readonly [number, string])[];
    }[]
  ).map(({ value, values = value === undefined ? [] : [value] }) => values.map(([, text]) => text));
}

/** A data source that writes down what it answers. */
function recording(source: DataSource, recorded: Recorded[]): DataSource {
  const record = async (
    ask: () => ReturnType<DataSource['query']>,
  ): ReturnType<DataSource['query']> => {
    const startMs = performance.now();
    const data = await ask();
    recorded.push({ values: valuesOf(data), tookMs: performance.now() - startMs });
    return data;
  };
  return {
    query: async (...question) => record(async () => source.query(...question)),
    queryRange: async (...question) => record(async () => source.queryRange(...question)),
    labelValues: async (...question) => source.labelValues(...question),
  };
}

const screen = 1920;

/** Opens every panel of all dashboards, and every annotation, for one cluster. */
export async function panelsAt(
  { cluster, from }: { readonly cluster: string; readonly from: string },
  source: Pick<
    SituationsPrometheus,
    'query' | 'queryRange' | 'labelValues' | 'nowMs' | 'scrapeIntervalMs'
  >,
  {
    grafana,
    dashboards,
  }: { readonly grafana: GrafanaData; readonly dashboards: readonly Dashboard[] },
): Promise<readonly PanelAnswers[]> {
  const answers: PanelAnswers[] = [];
  for (const { uid } of dashboards) {
    const recorded: Recorded[] = [];
    const open = await openDashboard(`/d/${uid}?var-cluster=${cluster}&from=${from}&to=now`, {
      grafana,
      dashboards,
      dataSource: recording(source, recorded),
      nowMs: source.nowMs,
      screen,
      scrapeSeconds: source.scrapeIntervalMs / 1000,
    });
    for (const panel of open.panels) {
      recorded.length = 0;
      let problem = '';
      try {
        const shown = await open.show(panel);
        if (shown.kind === 'states') problem = shown.complaint;
      } catch (error) {
        problem = String(error);
      }
      const series = recorded.flatMap(({ values }) => values);
      answers.push({
        where: `${uid}: ${panel.title}`,
        type: panel.type,
        problem,
        series: series.length,
        filled: series.filter((values) => values.some((text) => text !== 'NaN')).length,
        points: Math.max(0, ...series.map(({ length }) => length)),
        width: panelWidth(panel.gridPos.w, screen),
        slowestMs: Math.max(0, ...recorded.map(({ tookMs }) => tookMs)),
      });
    }
  }
  return answers;
}
