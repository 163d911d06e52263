import type { JsonObject } from './json.ts';
import { makePanel, type Panel, type PanelOptions } from './panel.ts';

export interface BarsOptions extends PanelOptions {
  /** Of bars that reach as far as they can, such as a share of the whole. */
  readonly color?: JsonObject;
}

/** A ranking of the present, in the order of the answer. */
export function bars(options: BarsOptions): Panel {
  return makePanel(
    { min: 0, height: 12, ...options },
    {
      type: 'bargauge',
      isInstant: true,
      color: options.color ?? { mode: 'fixed', fixedColor: 'blue' },
      options: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        displayMode: 'basic',
        maxVizHeight: 24,
        minVizHeight: 14,
        namePlacement: 'left',
        orientation: 'horizontal',
        showUnfilled: true,
        sizing: 'manual',
        valueMode: 'text',
      },
    },
  );
}

/** States over time; values become names and colours by `mappings`. */
export function states(options: PanelOptions): Panel {
  return makePanel(options, {
    type: 'state-timeline',
    isInstant: false,
    maxDataPoints: 120,
    // With thresholds, Grafana would merge by these and leave the mappings aside.
    color: { mode: 'fixed', fixedColor: 'text' },
    custom: { fillOpacity: 80, lineWidth: 0 },
    options: {
      alignValue: 'left',
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      mergeValues: true,
      perPage: 12,
      rowHeight: 0.9,
      showValue: 'never',
      tooltip: { mode: 'single', sort: 'none' },
    },
  });
}
