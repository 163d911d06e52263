import type { Panel } from './dashboard-files.ts';
import { colorName } from './grafana-colors.ts';
import { addressesOf, type Drawing, type Prepared } from './grafana-fields.ts';

/** A number with what surrounds it. */
export interface Tile {
  /** What the value is called, where there are several. */
  readonly name: string;
  readonly text: string;
  readonly numeric: number;
  readonly color: string;
  /** Whether the colour fills the tile. */
  readonly isFilled: boolean;
  readonly links: readonly string[];
}

export interface ShownTiles {
  readonly kind: 'tiles';
  readonly tiles: readonly Tile[];
}

/** The panels `stat`, `gauge` and `bargauge`: one tile or bar for each value, by `getFieldDisplayValues`. */
export function tilesOf(
  { type, options = {} }: Panel,
  { frames, fieldConfig }: Prepared,
  drawing: Drawing,
): ShownTiles {
  const { grafana, theme, replace } = drawing;
  const values = grafana.getFieldDisplayValues({
    data: frames,
    fieldConfig,
    reduceOptions: options.reduceOptions ?? { calcs: ['lastNotNull'] },
    replaceVariables: replace,
    theme,
    timeZone: 'utc',
    sparkline: type === 'stat' && options.graphMode !== 'none',
  });
  const mode = type === 'stat' ? (options.colorMode ?? 'value') : 'value';
  return {
    kind: 'tiles',
    tiles: values.map(({ display, getLinks, hasLinks }) => ({
      name: display.title ?? '',
      text: grafana.formattedValueToString(display),
      numeric: display.numeric,
      color: mode === 'none' ? 'text' : colorName(display.color, theme),
      isFilled: mode.startsWith('background') && colorName(display.color, theme) !== 'transparent',
      links: hasLinks ? addressesOf(getLinks?.()) : [],
    })),
  };
}
