import { annotationsOf } from './annotations.ts';
import type { JsonObject } from './json.ts';
import { type DashboardName, toOthers } from './links.ts';
import type { Panel } from './panel.ts';
import type { Variable } from './variables.ts';

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
  /** Shown as its title only, until it is opened: for details that few look for. */
  readonly isCollapsed?: true;
}

export interface DashboardOptions {
  /** The `uid`, which stands in links and never changes, is made of it. */
  readonly name: DashboardName;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

const columns = 24;

interface Place {
  readonly x: number;
  readonly y: number;
  /** The height of the line that is being filled. */
  readonly lineHeight: number;
}

/** Gives every panel its place and, where it has none of its own, an id. */
function placed(rows: readonly Row[]): readonly JsonObject[] {
  let count = 0;
  let place: Place = { x: 0, y: 0, lineHeight: 0 };
  const put = (json: JsonObject, width: number, height: number): JsonObject => {
    if (place.x + width > columns) place = { x: 0, y: place.y + place.lineHeight, lineHeight: 0 };
    const gridPos = { h: height, w: width, x: place.x, y: place.y };
    const lineHeight = Math.max(place.lineHeight, height);
    place = { x: place.x + width, y: place.y, lineHeight };
    count += 1;
    return { ...json, id: json['id'] ?? count, gridPos };
  };
  return rows.flatMap(({ title, panels, isCollapsed = false }) => {
    const row = put({ type: 'row', title, collapsed: isCollapsed }, columns, 1);
    const ofRow = panels.map((panel) => put(panel.json, panel.width, panel.height));
    // Grafana keeps the panels of a collapsed row inside it.
    return isCollapsed ? [{ ...row, panels: ofRow }] : [{ ...row, panels: [] }, ...ofRow];
  });
}

/** A dashboard in Grafana's classic schema. */
export function dashboard(options: DashboardOptions): JsonObject {
  return {
    uid: `newrelic-${options.name}`,
    title: options.title,
    description: options.description,
    tags: ['newrelic-exporter'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    links: toOthers(options.name),
    annotations: { list: annotationsOf(options.name) },
    templating: { list: options.variables.map(({ json }) => json) },
    panels: placed(options.rows),
  };
}
