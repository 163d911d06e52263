import type { JsonObject } from './json.ts';
import type { Panel } from './panel.ts';
import { dataSource, type Variable } from './variables.ts';

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface DashboardOptions {
  /** Stands in links; never changes. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

const columns = 24;
const tag = 'newrelic-exporter';

interface Place {
  readonly x: number;
  readonly y: number;
  /** The height of the line that is being filled. */
  readonly lineHeight: number;
}

function placed(rows: readonly Row[]): readonly JsonObject[] {
  const panels: JsonObject[] = [];
  let place: Place = { x: 0, y: 0, lineHeight: 0 };
  const put = (json: JsonObject, width: number, height: number): void => {
    if (place.x + width > columns) place = { x: 0, y: place.y + place.lineHeight, lineHeight: 0 };
    const gridPos = { h: height, w: width, x: place.x, y: place.y };
    panels.push({ id: panels.length + 1, ...json, gridPos });
    const lineHeight = Math.max(place.lineHeight, height);
    place = { x: place.x + width, y: place.y, lineHeight };
  };
  for (const { title, panels: ofRow } of rows) {
    put({ type: 'row', title, collapsed: false, panels: [] }, columns, 1);
    for (const panel of ofRow) put(panel.json, panel.width, panel.height);
  }
  return panels;
}

/** The restarts of the exporters, as lines in every graph. */
const restarts: JsonObject = {
  name: 'Exporter restarts',
  datasource: dataSource,
  enable: true,
  hide: false,
  iconColor: 'orange',
  expr: 'changes(process_start_time_seconds{cluster=~"$cluster",job=~"$job",instance=~"$instance"}[$__rate_interval]) > 0 and on (cluster, job, instance) newrelic_exporter_build_info{cluster=~"$cluster",job=~"$job",instance=~"$instance"}',
  step: '60s',
  titleFormat: 'Restart',
  textFormat: '{{instance}}',
};

/** A dashboard in Grafana's classic schema. */
export function dashboard(options: DashboardOptions): JsonObject {
  return {
    uid: options.uid,
    title: options.title,
    description: options.description,
    tags: [tag],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    links: [
      {
        type: 'dashboards',
        title: 'New Relic exporter',
        tags: [tag],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
        targetBlank: false,
      },
    ],
    annotations: { list: [restarts] },
    templating: { list: options.variables.map(({ json }) => json) },
    panels: placed(options.rows),
  };
}
