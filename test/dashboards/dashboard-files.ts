import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { application } from '../../dashboards/application.ts';
import { dashboard } from '../../dashboards/dashboard.ts';
import { exporter } from '../../dashboards/exporter.ts';
import type { JsonObject } from '../../dashboards/json.ts';
import { overview } from '../../dashboards/overview.ts';
import { projectFolder } from '../docs/documents.ts';

const dashboardsFolder: string = join(projectFolder, 'helm/newrelic-exporter/dashboards');

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly format?: string;
  /** The smallest step, such as `1m`. */
  readonly interval?: string;
  readonly instant: boolean;
  readonly datasource: { readonly type: string; readonly uid: string };
}

/** As much of the options of fields as the tests look at. */
interface FieldConfigSource {
  readonly defaults: {
    readonly unit?: string;
    readonly thresholds?: { readonly steps: readonly { readonly value: number | null }[] };
    readonly mappings?: readonly object[];
    readonly custom?: Readonly<Record<string, unknown>>;
  };
  readonly overrides: readonly {
    readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
  }[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: FieldConfigSource;
  readonly options?: object;
  readonly transformations?: readonly { readonly id: string; readonly options: object }[];
  /** How many points a line has at most; the width in pixels if it is left out. */
  readonly maxDataPoints?: number;
  /** Of a row that is collapsed. */
  readonly panels?: readonly Panel[];
}

export interface Link {
  readonly type: string;
  readonly title: string;
  readonly url: string;
  readonly includeVars: boolean;
  readonly keepTime: boolean;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly hide: number;
  readonly skipUrlSync: boolean;
  readonly multi: boolean;
  readonly includeAll: boolean;
  readonly allValue?: string;
  readonly refresh?: number;
  readonly query: string | { readonly query: string };
  readonly regex: string;
  readonly sort?: number;
  readonly current: { readonly value?: string | readonly string[] };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  /** What it shows at first, such as `now-6h` to `now`. */
  readonly time: { readonly from: string; readonly to: string };
  readonly links: readonly Link[];
  readonly panels: readonly Panel[];
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr: string }[];
  };
  readonly templating: { readonly list: readonly Variable[] };
}

export interface DashboardFile {
  readonly name: string;
  readonly path: string;
  /** What the sources make. */
  readonly made: JsonObject;
}

function withCollapsed(panels: readonly Panel[]): readonly Panel[] {
  return panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
}

export const dashboardFiles: readonly DashboardFile[] = [
  { name: 'overview', options: overview },
  { name: 'application', options: application },
  { name: 'exporter', options: exporter },
].map(({ name, options }) => ({
  name,
  path: join(dashboardsFolder, `${name}.json`),
  made: dashboard(options),
}));

/** The dashboards as users get them, with the panels of collapsed rows among the others. */
export function readDashboards(): readonly (Dashboard & { readonly name: string })[] {
  return dashboardFiles.map(({ name, path }) => {
    const one = JSON.parse(readFileSync(path, 'utf8')) as Dashboard;
    return { ...one, panels: withCollapsed(one.panels), name };
  });
}
