import type { JsonObject } from './json.ts';
import { type DashboardName, toOthers } from './links.ts';
import { dataSource, type Panel } from './panel.ts';
import { of, sameExporter } from './selectors.ts';

export interface DashboardOptions {
  /** The `uid`, which stands in links and never changes, is made of it. */
  readonly name: DashboardName;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly JsonObject[];
  /** What is needed at night. */
  readonly open: readonly Panel[];
  /** Rows by their titles, shown as these only until they are opened: details that few look for. */
  readonly closed: Readonly<Record<string, readonly Panel[]>>;
}

const started = of.process('process_start_time_seconds');
const reloaded = of.process('newrelic_exporter_config_last_reload_success_timestamp_seconds');
/** The value is the moment, in milliseconds. */
const moment: JsonObject = { textFormat: '{{instance}}', useValueForTime: 'on' };
const restarts: JsonObject = {
  name: 'Exporter restarts',
  iconColor: 'blue',
  expr: `1000 * ${started} and ${sameExporter} ${of.process('newrelic_exporter_build_info')}`,
  titleFormat: 'Restart',
  ...moment,
};
const reloads: JsonObject = {
  name: 'New configuration',
  iconColor: 'purple',
  // Reading it at the start, which may take long, is no change of it.
  expr: `1000 * (${reloaded} > ${sameExporter} (${started} + 120))`,
  titleFormat: 'New configuration',
  ...moment,
};

/** Where an alert began: of the application shown, or of any. An alert about no account has no such label. */
function alertsOn(name: DashboardName): JsonObject {
  const app = name === 'application' ? ',app_id=~"$app|"' : '';
  const alerts = `ALERTS{cluster=~"$cluster",account=~"$account|"${app},alertname=~"NewRelic.*",alertstate="firing"}`;
  const by = 'max by (alertname, account)';
  return {
    name: 'Firing alerts',
    iconColor: 'red',
    expr: `${by} (${alerts}) unless ${by} (${alerts} offset 1m)`,
    titleFormat: '{{alertname}}',
    textFormat: '{{account}}',
  };
}

const columns = 24;

/** Gives every panel its place and, where it has none of its own, an id. */
function placed({ open, closed }: DashboardOptions): readonly JsonObject[] {
  let count = 0;
  let [x, y, lineHeight] = [0, 0, 0];
  const put = ({ id, size: { w, h }, json }: Panel): JsonObject => {
    if (x + w > columns) [x, y, lineHeight] = [0, y + lineHeight, 0];
    const gridPos = { h, w, x, y };
    [x, lineHeight] = [x + w, Math.max(lineHeight, h)];
    count += 1;
    return { ...json, id: id ?? count, gridPos };
  };
  const placedOpen = open.map(put);
  const rows = Object.entries(closed).map(([title, panels]) => {
    const json = { type: 'row', title, collapsed: true };
    const row = put({ id: undefined, size: { w: columns, h: 1 }, json });
    // Grafana keeps the panels of a collapsed row inside it.
    return { ...row, panels: panels.map(put) };
  });
  return [...placedOpen, ...rows];
}

/** A dashboard in Grafana's classic schema. */
export function dashboard(options: DashboardOptions): JsonObject {
  const { name, title, description, variables } = options;
  return {
    uid: `newrelic-${name}`,
    title,
    description,
    tags: ['newrelic-exporter'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    links: toOthers(name),
    annotations: {
      list: [restarts, reloads, alertsOn(name)].map((annotation) => ({
        datasource: dataSource,
        enable: true,
        hide: false,
        step: '60s',
        ...annotation,
      })),
    },
    templating: { list: variables },
    panels: placed(options),
  };
}
