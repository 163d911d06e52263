import type { JsonObject } from './json.ts';

function valueMap(
  entries: Readonly<Record<string, readonly [text: string, color: string]>>,
): JsonObject {
  const options = Object.entries(entries).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return { type: 'value', options: Object.fromEntries(options) };
}

export const yesOrNo: JsonObject = valueMap({ '0': ['no', 'red'], '1': ['yes', 'green'] });

/** As `healthExpression` numbers them. */
export const health: JsonObject = valueMap({
  '1': ['green', 'green'],
  '2': ['orange', 'orange'],
  '3': ['red', 'red'],
  '4': ['gray or unknown', 'text'],
});
