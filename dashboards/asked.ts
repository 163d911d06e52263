import type { PresetName } from '../src/model/presets.ts';

/**
 * What a panel says without data, if it shows what is only read where the configuration asks for it.
 */
export function needs(...metrics: readonly PresetName[]): string {
  return `No data in this range (needs metrics: [${metrics.join(', ')}])`;
}
