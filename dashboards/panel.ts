import type { Json, JsonObject } from './json.ts';
import { dataSource } from './variables.ts';

/** One query of a panel. */
export interface Query {
  readonly expr: string;
  /** A name with labels in double braces; not for tables. */
  readonly legend?: string;
}

/** A panel without its place. */
export interface Panel {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly json: JsonObject;
}

export interface PanelOptions {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Of the 24 columns of the grid. */
  readonly width?: number;
  readonly height?: number;
  readonly min?: number;
  readonly max?: number;
  readonly decimals?: number;
  /** From a value on, a colour. */
  readonly thresholds?: readonly Threshold[];
  readonly mappings?: readonly Json[];
  readonly links?: readonly Json[];
  readonly overrides?: readonly Json[];
}

export type Threshold = readonly [from: number, color: 'green' | 'orange' | 'red'];

export interface PanelKind {
  readonly type: string;
  readonly options: JsonObject;
  readonly custom?: JsonObject;
  /** Asks for the present only. */
  readonly isInstant: boolean;
  readonly format?: 'table';
  readonly color?: JsonObject;
  readonly transformations?: readonly Json[];
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function targetsOf(queries: readonly Query[], kind: PanelKind): readonly JsonObject[] {
  return queries.map(({ expr, legend }, index) => ({
    refId: letters[index],
    datasource: dataSource,
    editorMode: 'code',
    expr,
    legendFormat: legend,
    format: kind.format ?? 'time_series',
    instant: kind.isInstant,
    range: !kind.isInstant,
  }));
}

function stepsOf(thresholds: readonly Threshold[]): readonly JsonObject[] {
  return [
    { color: thresholds.length === 0 ? 'green' : 'text', value: null },
    ...thresholds.map(([value, color]) => ({ color, value })),
  ];
}

export function makePanel(options: PanelOptions, kind: PanelKind): Panel {
  const { title, description, unit, queries, width = 12, height = 8, thresholds = [] } = options;
  return {
    title,
    width,
    height,
    json: {
      type: kind.type,
      title,
      description,
      datasource: dataSource,
      targets: targetsOf(queries, kind),
      transformations: kind.transformations,
      fieldConfig: {
        defaults: {
          unit,
          min: options.min,
          max: options.max,
          decimals: options.decimals,
          color: kind.color ?? { mode: 'thresholds' },
          custom: kind.custom,
          thresholds: { mode: 'absolute', steps: stepsOf(thresholds) },
          mappings: options.mappings,
          links: options.links,
        },
        overrides: options.overrides ?? [],
      },
      options: kind.options,
    },
  };
}
