import { type Dashboard, type Panel, readDashboards } from './dashboard-files.ts';
import { type DataSource, type OpenDashboard, openDashboard } from './grafana-dashboard.ts';
import type { GrafanaData } from './grafana-data.ts';
import { panelWidth } from './grafana-screen.ts';

/** What a panel gets from Prometheus, and what it makes of it. */
export interface PanelAnswers {
  /** The uid of the dashboard and the title of the panel. */
  readonly where: string;
  readonly type: string;
  /** What Prometheus or the panel complains about; empty if nothing is wrong. */
  readonly problem: string;
  /** The series of all its queries. */
  readonly series: number;
  /** Of the query with the most. */
  readonly mostSeries: number;
  /** Those with a number. */
  readonly filled: number;
  /** Of its longest series. */
  readonly points: number;
  /** In pixels. */
  readonly width: number;
}

type Values = readonly string[];

interface ApiSeries {
  readonly value?: readonly [seconds: number, value: string];
  readonly values?: readonly (readonly [seconds: number, value: string])[];
}

type Data = Awaited<ReturnType<DataSource['query']>>;

/** The values of each series. */
function valuesOf({ result }: Data): readonly Values[] {
  return (result as readonly ApiSeries[]).map(
    ({ value, values = value === undefined ? [] : [value] }) => values.map(([, text]) => text),
  );
}

/** A data source that writes down what it answers to each query. */
function recording(source: DataSource, recorded: (readonly Values[])[]): DataSource {
  const record = async (ask: () => Promise<Data>): Promise<Data> => {
    const data = await ask();
    recorded.push(valuesOf(data));
    return data;
  };
  return {
    query: async (...question) => record(async () => source.query(...question)),
    queryRange: async (...question) => record(async () => source.queryRange(...question)),
    labelValues: async (...question) => source.labelValues(...question),
  };
}

/** An annotation as a graph with its query. */
function annotationPanels({ annotations }: Dashboard): readonly Panel[] {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  return annotations.list.map(({ expr }, index) => ({
    id: 1000 + index,
    type: 'timeseries',
    title: `annotation ${index + 1}`,
    gridPos: { x: 0, y: 0, w: 24, h: 8 },
    targets: [{ refId: 'A', expr, instant: false, interval: '60s', datasource }],
    fieldConfig: { defaults: {}, overrides: [] },
  }));
}

async function complaintOf(open: OpenDashboard, panel: Panel): Promise<string> {
  try {
    const shown = await open.show(panel);
    return shown.kind === 'states' ? shown.complaint : '';
  } catch (error) {
    return String(error);
  }
}

interface Source extends DataSource {
  readonly nowMs: number;
  readonly scrapeIntervalMs: number;
}

const screen = 1920;

/** Opens every panel and every annotation of all dashboards for one cluster. */
export async function panelsAt(
  { cluster, from }: { readonly cluster: string; readonly from: string },
  source: Source,
  grafana: GrafanaData,
): Promise<readonly PanelAnswers[]> {
  const dashboards = readDashboards();
  const answers: PanelAnswers[] = [];
  for (const dashboard of dashboards) {
    const { uid } = dashboard;
    const recorded: (readonly Values[])[] = [];
    const open = await openDashboard(`/d/${uid}?var-cluster=${cluster}&from=${from}&to=now`, {
      grafana,
      dashboards,
      dataSource: recording(source, recorded),
      nowMs: source.nowMs,
      screen,
      scrapeSeconds: source.scrapeIntervalMs / 1000,
    });
    for (const panel of [...open.panels, ...annotationPanels(dashboard)]) {
      recorded.length = 0;
      const problem = await complaintOf(open, panel);
      const series = recorded.flat();
      answers.push({
        where: `${uid}: ${panel.title}`,
        type: panel.type,
        problem,
        series: series.length,
        mostSeries: Math.max(0, ...recorded.map(({ length }) => length)),
        filled: series.filter((values) => values.some((text) => text !== 'NaN')).length,
        points: Math.max(0, ...series.map(({ length }) => length)),
        width: panelWidth(panel.gridPos.w, screen),
      });
    }
  }
  return answers;
}
