import type { Panel } from './dashboard-files.ts';
import { colorName } from './grafana-colors.ts';
import type { Field, FieldValue } from './grafana-data.ts';
import { addressesOf, type Drawing, type Prepared } from './grafana-fields.ts';

export interface State {
  readonly text: string;
  readonly color: string;
}

export interface ShownStates {
  readonly kind: 'states';
  readonly rows: readonly {
    readonly name: string;
    /** One after the other, without repetitions. */
    readonly states: readonly State[];
    readonly links: readonly string[];
  }[];
  readonly legend: readonly State[];
  /** What it says instead of states; empty if it shows them. */
  readonly complaint: string;
  readonly whenEmpty: string;
}

/** As `getThresholdItems` of `TimelineChart/utils.ts`: `-∞+` for a single step, `< 1` and `1+` for two. */
function thresholdStates({ config }: Field, { grafana, theme }: Drawing): readonly State[] {
  const { steps = [] } = config.thresholds ?? {};
  const format = grafana.getValueFormat(config.unit ?? '');
  const textOf = (value: number | null | undefined): string =>
    grafana.formattedValueToString(format(value ?? Number.NEGATIVE_INFINITY, config.decimals));
  return steps.map(({ value, color }, index) => {
    const next = steps[index + 1];
    const isBase = value === null || value === Number.NEGATIVE_INFINITY;
    const text = isBase && next !== undefined ? `< ${textOf(next.value)}` : `${textOf(value)}+`;
    return { text, color: colorName(theme.visualization.getColorByName(color), theme) };
  });
}

/**
 * As `mergeThresholdValues` of `TimelineChart/utils.ts`: with merged values and colours by threshold,
 * the steps take the place of the values, and nothing remains of the mappings.
 */
function isByThreshold({ type, options = {} }: Panel, { config }: Field): boolean {
  return (
    type === 'state-timeline' &&
    options.mergeValues !== false &&
    config.color?.mode === 'thresholds'
  );
}

function stateOf(
  value: FieldValue,
  field: Field,
  panel: Panel,
  drawing: Drawing,
): State | undefined {
  if (typeof value !== 'number') return undefined;
  if (isByThreshold(panel, field)) {
    const { steps = [] } = field.config.thresholds ?? {};
    const step = drawing.grafana.getActiveThreshold(value, steps);
    return thresholdStates(field, drawing)[steps.indexOf(step)];
  }
  const display = field.display?.(value);
  if (display === undefined) return undefined;
  return {
    text: drawing.grafana.formattedValueToString(display),
    color: colorName(display.color, drawing.theme),
  };
}

function withoutRepetitions(states: readonly State[]): readonly State[] {
  return states.filter(({ text }, index) => index === 0 || states[index - 1]?.text !== text);
}

function unique(states: readonly State[]): readonly State[] {
  return [...new Map(states.map((state) => [state.text, state])).values()];
}

/** The panels `state-timeline` and `status-history`, in a panel of so many pixels. */
export function statesOf(
  panel: Panel,
  { frames, fieldConfig }: Prepared,
  width: number,
  drawing: Drawing,
): ShownStates {
  const rows = frames.flatMap((frame) =>
    frame.fields
      .filter(({ type }) => type === 'number')
      .map((field) => {
        const states = field.values.map((value) => stateOf(value, field, panel, drawing));
        return {
          name: drawing.grafana.getFieldDisplayName(field, frame, frames),
          states: withoutRepetitions(states.filter((state) => state !== undefined)),
          links: addressesOf(field.getLinks?.({ valueRowIndex: frame.length - 1 })),
        };
      }),
  );
  const points = Math.max(0, ...frames.map(({ length }) => length));
  // `StatusHistoryPanel.tsx` asks for two pixels for each point.
  const isCrowded = panel.type === 'status-history' && points > width / 2;
  return {
    kind: 'states',
    rows,
    legend: unique(rows.flatMap(({ states }) => states)),
    complaint: isCrowded ? `Too many points to visualize properly (${points} points received)` : '',
    whenEmpty: fieldConfig.defaults.noValue ?? 'No data',
  };
}
