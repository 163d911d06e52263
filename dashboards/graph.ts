import type { JsonObject } from './json.ts';
import { makePanel, type Panel, type PanelOptions } from './panel.ts';

export interface GraphOptions extends PanelOptions {
  readonly isStacked?: true;
  /** Holds each value until the next: for what changes in steps. */
  readonly isStepped?: true;
  /** At most so many moments: where each costs much, and one a minute says no more. */
  readonly maxDataPoints?: number;
  /** The axis reaches at least so far, so that noise round 0 does not fill the panel. */
  readonly softMax?: number;
  /** Instead of "No data", where the reason is likely to be known. */
  readonly noValue?: string;
}

/** From this width on there is room for names beside the lines. */
const wide = 12;

/** Names alone: "the last value" of a series that has ended would show the past as the present. */
function legendOf(width: number): JsonObject {
  const place = width >= wide ? { placement: 'right', width: 220 } : { placement: 'bottom' };
  return { showLegend: true, displayMode: 'list', calcs: [], ...place };
}

/** Lines over time, with the thresholds as lines where there are any. */
export function graph(options: GraphOptions): Panel {
  const { isStacked = false, isStepped = false, softMax, thresholds, width = wide } = options;
  return makePanel(
    { min: 0, ...options },
    {
      type: 'timeseries',
      isInstant: false,
      maxDataPoints: options.maxDataPoints,
      noValue: options.noValue,
      color: { mode: 'palette-classic' },
      custom: {
        axisSoftMax: softMax,
        drawStyle: 'line',
        fillOpacity: isStacked ? 30 : 10,
        lineInterpolation: isStepped ? 'stepAfter' : 'linear',
        lineWidth: 1,
        scaleDistribution: { type: 'linear' },
        showPoints: 'auto',
        spanNulls: false,
        stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
        thresholdsStyle: { mode: thresholds === undefined ? 'off' : 'dashed' },
      },
      options: {
        legend: legendOf(width),
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },
  );
}
