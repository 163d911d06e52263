import type { Json, JsonObject } from './json.ts';
import { fillOf } from './mappings.ts';
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
  /** Stands in links that open the panel alone; from 100 on, as the others are counted from 1. */
  readonly id?: number;
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

/** A colour from a value on; from `-Infinity` on instead of the colour below all thresholds. */
export type Threshold = readonly [from: number, color: string];

export function stepsOf(thresholds: readonly Threshold[], base: string): readonly JsonObject[] {
  const hasBase = thresholds.some(([from]) => from === -Infinity);
  const all: readonly Threshold[] = hasBase ? thresholds : [[-Infinity, base], ...thresholds];
  return all.map(([from, color]) => ({
    color: fillOf(color),
    value: from === -Infinity ? null : from,
  }));
}

export interface PanelKind {
  readonly type: string;
  readonly options: JsonObject;
  readonly custom?: JsonObject;
  /** Asks for the present only. */
  readonly isInstant: boolean;
  readonly format?: 'table';
  readonly color?: JsonObject;
  /** Below all thresholds. */
  readonly baseColor?: 'text' | 'transparent';
  /** Instead of those that a panel names. */
  readonly thresholds?: JsonObject;
  readonly transformations?: readonly Json[];
  /** Instead of a value that is missing. */
  readonly noValue?: string | undefined;
  /** At most so many moments are asked for. */
  readonly maxDataPoints?: number | undefined;
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

export function makePanel(options: PanelOptions, kind: PanelKind): Panel {
  const { title, description, unit, queries, width = 12, height = 8, thresholds = [] } = options;
  return {
    title,
    width,
    height,
    json: {
      id: options.id,
      type: kind.type,
      title,
      description,
      datasource: dataSource,
      maxDataPoints: kind.maxDataPoints,
      // Two scrapes a minute apart, whatever Grafana believes the interval of scrapes to be.
      interval: queries.some(({ expr }) => expr.includes('$__rate_interval')) ? '2m' : undefined,
      targets: targetsOf(queries, kind),
      transformations: kind.transformations,
      fieldConfig: {
        defaults: {
          unit,
          min: options.min,
          max: options.max,
          decimals: options.decimals,
          noValue: kind.noValue,
          color: kind.color ?? { mode: 'thresholds' },
          custom: kind.custom,
          thresholds: kind.thresholds ?? {
            mode: 'absolute',
            steps: stepsOf(thresholds, kind.baseColor ?? 'text'),
          },
          mappings: options.mappings,
          links: options.links,
        },
        overrides: options.overrides ?? [],
      },
      options: kind.options,
    },
  };
}
