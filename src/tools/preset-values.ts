import { type PresetName, presetNames, presets } from '../model/presets.ts';

function keyOf(metric: string, value: string): string {
  return JSON.stringify([metric, value]);
}

const presetByValue: ReadonlyMap<string, PresetName> = new Map(
  presetNames.flatMap((preset) =>
    presets[preset]
      .flatMap(({ sources }) => Object.values(sources))
      .map(({ metric, value }) => [keyOf(metric, value), preset] as const),
  ),
);

/** The preset that reads a value of a metric; `undefined` if none does. */
export function presetOf(metric: string, value: string): PresetName | undefined {
  return presetByValue.get(keyOf(metric, value));
}

/** The presets that read any of the values of a metric, in their order. */
export function presetsOf(metric: string, values: readonly string[]): readonly PresetName[] {
  const used = new Set(values.map((value) => presetOf(metric, value)));
  return presetNames.filter((preset) => used.has(preset));
}
