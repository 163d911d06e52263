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
  readonly instant: boolean;
  readonly datasource: { readonly type: string; readonly uid: string };
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
  /** Of a row that is collapsed. */
  readonly panels?: readonly Panel[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null }[] };
    };
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
}

export interface Link {
  readonly type: string;
  readonly title: string;
  readonly url: string;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly hide: number;
  readonly multi: boolean;
  readonly includeAll: boolean;
  readonly allValue?: string;
  readonly refresh?: number;
  readonly regex: string;
  readonly query: string | { readonly query: string };
  readonly current: { readonly value?: string | readonly string[] };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly links: readonly Link[];
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
