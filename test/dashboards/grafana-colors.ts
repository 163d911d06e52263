import type { Theme } from './grafana-data.ts';

function channels(css: string): readonly [number, number, number, number] {
  const [, hex = ''] = /^#([\da-f]{6,8})$/i.exec(css) ?? [];
  if (hex !== '') {
    const at = (index: number): number => Number.parseInt(hex.slice(index, index + 2), 16);
    return [at(0), at(2), at(4), hex.length === 8 ? at(6) / 255 : 1];
  }
  const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, alpha];
}

function isSame(one: string, other: string): boolean {
  const others = channels(other);
  return channels(one).every((value, index) => Math.abs(value - (others[index] ?? 0)) < 0.6);
}

/** What people call a colour: a name of Grafana's palette, without `semi-dark-` and so on. */
export function colorName(css: string | undefined, theme: Theme): string {
  if (css === undefined) return '';
  if (channels(css)[3] === 0) return 'transparent';
  if (isSame(css, theme.visualization.getColorByName('text'))) return 'text';
  const hue = theme.visualization.hues.find(({ shades }) =>
    shades.some(({ color }) => isSame(color, css)),
  );
  return hue?.name ?? css;
}
