import type { JsonObject } from './json.ts';
import type { DashboardName } from './links.ts';
import { ofProcess } from './selectors.ts';
import { dataSource } from './variables.ts';

const sameProcess = 'on (cluster, job, instance)';
const started = ofProcess('process_start_time_seconds');
const reloaded = ofProcess('newrelic_exporter_config_last_reload_success_timestamp_seconds');

interface Annotation {
  readonly name: string;
  readonly color: string;
  readonly expr: string;
  readonly title: string;
  readonly text: string;
  /** The value is the moment, in milliseconds; otherwise the time during which there is a value. */
  readonly isMoment?: true;
}

function annotation({ name, color, expr, title, text, isMoment }: Annotation): JsonObject {
  return {
    name,
    datasource: dataSource,
    enable: true,
    hide: false,
    iconColor: color,
    expr,
    step: '60s',
    titleFormat: title,
    textFormat: text,
    useValueForTime: isMoment === true ? 'on' : undefined,
  };
}

/** A line where an alert began: of the application shown, or of any. An alert about no account has no such label. */
function firing(name: DashboardName): Annotation {
  const app = name === 'application' ? ',app_id=~"$app|"' : '';
  const alerts = `ALERTS{cluster=~"$cluster",account=~"$account|"${app},alertname=~"NewRelic.*",alertstate="firing"}`;
  const now = `max by (alertname, account) (${alerts})`;
  return {
    name: 'Firing alerts',
    color: 'red',
    expr: `${now} unless max by (alertname, account) (${alerts} offset 1m)`,
    title: '{{alertname}}',
    text: '{{account}}',
  };
}

/** What explains the graphs, drawn in every one of them. */
export const annotationsOf = (name: DashboardName): readonly JsonObject[] => [
  annotation({
    name: 'Exporter restarts',
    color: 'blue',
    expr: `1000 * ${started} and ${sameProcess} ${ofProcess('newrelic_exporter_build_info')}`,
    title: 'Restart',
    text: '{{instance}}',
    isMoment: true,
  }),
  annotation({
    name: 'New configuration',
    color: 'purple',
    // Reading it at the start is no change of it.
    expr: `1000 * (${reloaded} > ${sameProcess} (${started} + 10))`,
    title: 'New configuration',
    text: '{{instance}}',
    isMoment: true,
  }),
  annotation(firing(name)),
];
