import type { JsonObject } from './json.ts';

type Color = 'orange' | 'red' | 'transparent';

/** White text on these has a contrast of at least 4.5:1, which Grafana's own orange and red have not. */
const fills: Readonly<Record<string, string>> = { orange: '#B35900', red: '#C4162A' };

/** The colour that fills a tile or a cell. */
export function fillOf(color: string): string {
  return fills[color] ?? color;
}

function valueMap(
  entries: Readonly<Record<string, readonly [text: string, color: Color]>>,
): JsonObject {
  const options = Object.entries(entries).map(
    ([value, [text, color]], index) => [value, { text, color: fillOf(color), index }] as const,
  );
  return { type: 'value', options: Object.fromEntries(options) };
}

function special(color: Color): JsonObject {
  const result = { text: 'no data', color: fillOf(color), index: 0 };
  return { type: 'special', options: { match: 'null+nan', result } };
}

/** Nothing is known, which must never look as if all were well. */
export const noData: JsonObject = special('red');
/** An empty cell of a column whose colours begin with the least value. */
export const blank: JsonObject = {
  type: 'special',
  options: { match: 'null+nan', result: { text: '', color: 'transparent', index: 0 } },
};
/** There need not be anything. */
export const nothing: JsonObject = special('transparent');

/** For a tile or cell with a coloured background: only what is wrong has a colour. */
export const yesOrNo: JsonObject = valueMap({
  '0': ['no', 'red'],
  '1': ['yes', 'transparent'],
});

/** As `yesOrNo`, for what need not be a fault. */
export const yesOrUnusual: JsonObject = valueMap({
  '0': ['no', 'orange'],
  '1': ['yes', 'transparent'],
});

export const validOrRefused: JsonObject = valueMap({
  '0': ['refused', 'red'],
  '1': ['valid', 'transparent'],
});

export const readableOrNot: JsonObject = valueMap({
  '0': ['unreadable', 'red'],
  '1': ['readable', 'transparent'],
});

export const upOrDown: JsonObject = valueMap({
  '0': ['down', 'red'],
  '1': ['up', 'transparent'],
});

/** As `healthOf` numbers them: the worst is the greatest. Gray is what New Relic knows nothing of. */
export const health: JsonObject = valueMap({
  '0': ['none is red or orange', 'transparent'],
  '1': ['gray', 'transparent'],
  '2': ['green', 'transparent'],
  '3': ['orange', 'orange'],
  '4': ['red', 'red'],
});

/** As `pollOf` numbers them: the worst is the greatest. */
export const poll: JsonObject = valueMap({
  '0': ['complete', 'transparent'],
  '1': ['failing', 'orange'],
  '2': ['stale', 'red'],
});

/** Of an age: what has never happened is as old as the time of computers. */
export const neverPolled: JsonObject = {
  type: 'range',
  options: { from: 1e9, to: 1e11, result: { text: 'never', color: fillOf('red'), index: 0 } },
};

/** An Apdex score that the alert NewRelicApplicationApdexLow finds too low. */
export const poorApdex: JsonObject = {
  type: 'range',
  options: { from: 0, to: 0.7, result: { color: fillOf('orange'), index: 0 } },
};
