import type { Dashboard, Link, Panel, Target } from './dashboard-files.ts';
import type { GrafanaData, Replace, ScopedVars } from './grafana-data.ts';
import {
  type Answered,
  framesOf,
  type PrometheusData,
  type PrometheusSeries,
} from './grafana-frames.ts';
import { replacing } from './grafana-interpolation.ts';
import { draw, type Shown } from './grafana-panels.ts';
import { panelWidth } from './grafana-screen.ts';
import { type Chosen, chooseFor, interpolateQueryExpression } from './grafana-variables.ts';

/** What answers Grafana: a Prometheus. */
export interface DataSource {
  query(expression: string, atMs: number): Promise<PrometheusData>;
  queryRange(
    expression: string,
    range: { readonly startMs: number; readonly endMs: number; readonly stepMs: number },
  ): Promise<PrometheusData>;
  labelValues(label: string, selector: string): Promise<readonly string[]>;
}

/** A Grafana with its dashboards, and the one who looks at it. */
export interface Place {
  readonly grafana: GrafanaData;
  readonly dashboards: readonly Dashboard[];
  readonly dataSource: DataSource;
  readonly nowMs: number;
  /** The width of the screen in pixels. */
  readonly screen: number;
  /** How often the data source says that it is scraped; 15 seconds if nobody sets it. */
  readonly scrapeSeconds: number;
}

/** A dashboard as a browser has it open. */
export interface OpenDashboard {
  readonly dashboard: Dashboard;
  readonly variables: readonly Chosen[];
  /** Without rows. */
  readonly panels: readonly Panel[];
  /** The queries of a panel as they are asked. */
  queriesOf(panel: Panel): readonly string[];
  show(panel: Panel): Promise<Shown>;
  /** The panel with this title. */
  find(title: string): Panel;
  /** The links beside the title of the dashboard. */
  readonly links: readonly { readonly title: string; readonly address: string }[];
}

interface Range {
  readonly from: number;
  readonly to: number;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** A time as an address has it, `now-6h` or milliseconds since the epoch, in milliseconds. */
function timeOf(text: string, nowMs: number): number {
  const [whole, amount = '0', unit = 's'] = /^now(?:-(\d+)([smhdw]))?$/.exec(text) ?? [];
  return whole === undefined
    ? Number(text)
    : nowMs - 1000 * Number(amount) * (secondsOf[unit] ?? 0);
}

/** The dashboard of an address such as `/d/newrelic-overview?var-app=42&from=now-6h&to=now`. */
export async function openDashboard(address: string, place: Place): Promise<OpenDashboard> {
  const { pathname, searchParams } = new URL(address, 'http://grafana.invalid');
  const [, uid = ''] = /^\/d\/([^/]+)/.exec(pathname) ?? [];
  const dashboard = place.dashboards.find((one) => one.uid === uid);
  if (dashboard === undefined) throw new Error(`There is no dashboard ${uid}: ${address}`);
  const range = {
    from: searchParams.get('from') ?? dashboard.time.from,
    to: searchParams.get('to') ?? dashboard.time.to,
  };
  const times = { from: timeOf(range.from, place.nowMs), to: timeOf(range.to, place.nowMs) };
  const { grafana, dataSource } = place;
  const source = {
    labelValues: async (label: string, selector: string) => dataSource.labelValues(label, selector),
    vector: async (expression: string) => {
      const { result } = await dataSource.query(expression, times.to);
      return result as readonly PrometheusSeries[];
    },
  };
  const variables = await chooseFor(dashboard, searchParams, source, grafana, (chosen) => {
    const fillIn = replacing({ grafana, variables: chosen, range });
    return (text, more, format) => fillIn(text, { ...lengthOf(times), ...more }, format);
  });
  const replace = replacing({ grafana, variables, range });
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  const drawing = { grafana, replace, theme: grafana.createTheme({ colors: { mode: 'dark' } }) };
  const filledIn = (expression: string, builtIn: ScopedVars): string =>
    replace(expression, builtIn, interpolateQueryExpression);
  return {
    dashboard,
    variables,
    panels,
    queriesOf: (panel) =>
      (panel.targets ?? []).map((target) =>
        filledIn(target.expr, builtInsOf(target, panel, times, place)),
      ),
    show: async (panel) => {
      const answers = await Promise.all(
        (panel.targets ?? []).map(async (target) =>
          answerTo(target, panel, times, place, filledIn),
        ),
      );
      return draw(panel, framesOf(answers), panelWidth(panel.gridPos.w, place.screen), drawing);
    },
    links: dashboard.links.map((link) => ({ title: link.title, address: linkOf(link, replace) })),
    find: (title) => {
      const panel = panels.find((one) => one.title === title);
      if (panel === undefined) throw new Error(`${uid} has no panel "${title}"`);
      return panel;
    },
  };
}

/** As `getLinkUrl` of Grafana's `link_srv.ts`: a link can hand on the variables and the time. */
function linkOf({ type, title, url, includeVars, keepTime }: Link, replace: Replace): string {
  if (type !== 'link') throw new Error(`The tests do not know links by ${type}: ${title}`);
  const more = [
    ...(includeVars ? [replace('${__all_variables}')] : []),
    ...(keepTime ? [replace('${__url_time_range}')] : []),
  ];
  return [replace(url, {}, 'uriencode'), ...more].join('&');
}

/** The step of a query in milliseconds, as the back end's `intervalv2` calculates it. */
function stepOf(
  { interval }: Target,
  { maxDataPoints, gridPos }: Panel,
  range: Range,
  place: Place,
): number {
  const points = maxDataPoints ?? panelWidth(gridPos.w, place.screen);
  const minimum = interval ?? `${place.scrapeSeconds}s`;
  return place.grafana.rangeUtil.calculateInterval(range, points, minimum).intervalMs;
}

/** As `getRangeScopedVars` of the data source, for lists of variables too. */
function lengthOf(range: Range): ScopedVars {
  const length = Math.round((range.to - range.from) / 1000);
  return { __range: { value: `${length}s` }, __range_s: { value: String(length) } };
}

/** As the back end fills in the intervals of a query. */
function builtInsOf(target: Target, panel: Panel, range: Range, place: Place): ScopedVars {
  const step = stepOf(target, panel, range, place) / 1000;
  const rate = Math.max(step + place.scrapeSeconds, 4 * place.scrapeSeconds);
  return {
    ...lengthOf(range),
    __interval: { value: `${step}s` },
    __interval_ms: { value: String(step * 1000) },
    __rate_interval: { value: `${rate}s` },
  };
}

async function answerTo(
  target: Target,
  panel: Panel,
  range: Range,
  place: Place,
  filledIn: (expression: string, builtIn: ScopedVars) => string,
): Promise<Answered> {
  const expr = filledIn(target.expr, builtInsOf(target, panel, range, place));
  const stepMs = stepOf(target, panel, range, place);
  const aligned = (time: number): number => Math.floor(time / stepMs) * stepMs;
  const { dataSource } = place;
  const data = target.instant
    ? await dataSource.query(expr, range.to)
    : await dataSource.queryRange(expr, {
        startMs: aligned(range.from),
        endMs: aligned(range.to),
        stepMs,
      });
  const { refId, legendFormat = '', format = 'time_series' } = target;
  return { refId, expr, legendFormat, format, data };
}
