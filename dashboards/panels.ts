import type { JsonObject } from './json.ts';
import { makePanel, type Panel, type PanelOptions } from './panel.ts';

const lastValue: JsonObject = { calcs: ['lastNotNull'], fields: '', values: false };
const palette: JsonObject = { mode: 'palette-classic' };

/** One number. */
export function stat(options: PanelOptions): Panel {
  return makePanel(
    { width: 4, height: 4, ...options },
    {
      type: 'stat',
      isInstant: true,
      options: {
        reduceOptions: lastValue,
        colorMode: 'value',
        graphMode: 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        textMode: 'auto',
      },
    },
  );
}

export interface GraphOptions extends PanelOptions {
  readonly isStacked?: true;
  /** Holds each value until the next: for what changes in steps. */
  readonly isStepped?: true;
}

/** Lines over time, with the thresholds as lines where there are any. */
export function graph(options: GraphOptions): Panel {
  const isStacked = options.isStacked === true;
  return makePanel(
    { min: 0, ...options },
    {
      type: 'timeseries',
      isInstant: false,
      color: palette,
      custom: {
        drawStyle: 'line',
        fillOpacity: isStacked ? 30 : 10,
        lineInterpolation: options.isStepped === true ? 'stepAfter' : 'linear',
        lineWidth: 1,
        showPoints: 'never',
        spanNulls: false,
        stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
        thresholdsStyle: { mode: options.thresholds === undefined ? 'off' : 'dashed' },
      },
      options: {
        legend: {
          calcs: ['mean', 'max', 'lastNotNull'],
          displayMode: 'table',
          placement: 'bottom',
          showLegend: true,
        },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },
  );
}

/** A ranking of the present, in the order of the answer. */
export function bars(options: PanelOptions): Panel {
  return makePanel(
    { min: 0, ...options },
    {
      type: 'bargauge',
      isInstant: true,
      color: { mode: 'continuous-BlPu' },
      options: {
        reduceOptions: lastValue,
        displayMode: 'gradient',
        orientation: 'horizontal',
        showUnfilled: true,
        valueMode: 'color',
      },
    },
  );
}

/** States over time; values become names and colours by `mappings`. */
export function states(options: PanelOptions): Panel {
  return makePanel(options, {
    type: 'state-timeline',
    isInstant: false,
    custom: { fillOpacity: 70, lineWidth: 0 },
    options: {
      alignValue: 'left',
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      mergeValues: true,
      rowHeight: 0.9,
      showValue: 'never',
      tooltip: { mode: 'single', sort: 'none' },
    },
  });
}

/** A coloured cell for each series and moment. */
export function heat(options: PanelOptions): Panel {
  return makePanel(options, {
    type: 'status-history',
    isInstant: false,
    color: { mode: 'continuous-BlPu' },
    custom: { fillOpacity: 80, lineWidth: 0 },
    options: {
      colWidth: 1,
      legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
      rowHeight: 0.9,
      showValue: 'never',
      tooltip: { mode: 'single', sort: 'none' },
    },
  });
}
