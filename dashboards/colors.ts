import type { Json, JsonObject } from './json.ts';

/** From a value on, a colour: red where the alert about it is critical, and orange where it is a warning. */
export type Limit = readonly [from: number, color: 'orange' | 'red'];

/** As the alerts NewRelicApplicationErrorRatioHigh and NewRelicApplicationApdexLow have them. */
export const errorLimit = 0.05;
export const apdexLimit = 0.7;

/** White text on these has a contrast of at least 4.5:1, which Grafana's own orange and red have not. */
const fills = { orange: '#B35900', red: '#C4162A', none: 'transparent' } as const;

export function thresholdsOf(limit: Limit | undefined): JsonObject {
  const below = { color: 'transparent', value: null };
  const steps = limit === undefined ? [] : [{ color: fills[limit[1]], value: limit[0] }];
  return { mode: 'absolute', steps: [below, ...steps] };
}

type Named = readonly [name: string, color?: keyof typeof fills];

/** Names for values. What has a name without a colour is well. */
function named(names: Readonly<Record<number, Named>>): JsonObject {
  const options = Object.entries(names).map(
    ([value, [text, color = 'none']], index) =>
      [value, { text, color: fills[color], index }] as const,
  );
  return { type: 'value', options: Object.fromEntries(options) };
}

function missing(text: string, color: keyof typeof fills): JsonObject {
  const result = { text, color: fills[color], index: 0 };
  return { type: 'special', options: { match: 'null+nan', result } };
}

function between(from: number, to: number, result: JsonObject): JsonObject {
  return { type: 'range', options: { from, to, result: { ...result, index: 0 } } };
}

type State = 'upOrDown' | 'yesOrNo' | 'readableOrNot' | 'health' | 'poll' | 'query';
type Other = 'noData' | 'nothing' | 'blank' | 'poorApdex' | 'neverPolled';

/** What is said of values. */
export const words: Readonly<Record<State | Other, JsonObject>> = {
  upOrDown: named({ 0: ['down', 'red'], 1: ['up'] }),
  yesOrNo: named({ 0: ['no', 'orange'], 1: ['yes'] }),
  readableOrNot: named({ 0: ['unreadable', 'orange'], 1: ['readable'] }),
  /** As `healthOf` numbers them: the worst is the greatest. Gray is what New Relic knows nothing of. */
  health: named({ 1: ['gray'], 2: ['green'], 3: ['orange', 'orange'], 4: ['red', 'red'] }),
  /** As `pollOf` numbers them: the worst is the greatest. */
  poll: named({ 0: ['complete'], 1: ['failing', 'orange'], 2: ['stale', 'orange'] }),
  /** As the table of queries numbers them: the worst is the greatest. */
  query: named({ 0: ['answered'], 1: ['no value', 'orange'], 2: ['failing', 'orange'] }),
  /** Nothing is known, which must never look as if all were well. */
  noData: missing('no data', 'red'),
  /** There need not be anything. */
  nothing: missing('no data', 'none'),
  /** An empty cell of a table. */
  blank: missing('', 'none'),
  /** An Apdex score below the limit. */
  poorApdex: between(0, apdexLimit, { color: fills.orange }),
  /** Of an age: what has never happened is as old as the time of computers. */
  neverPolled: between(1e9, 1e11, { text: 'never', color: fills.orange }),
};

/** What differs for the field of this name: a series by its legend, or a column. */
export function field(
  name: string | RegExp,
  properties: Readonly<Record<string, Json>>,
): JsonObject {
  const id = typeof name === 'string' ? 'byName' : 'byRegexp';
  return {
    matcher: { id, options: String(name) },
    properties: Object.entries(properties)
      .filter(([, value]) => value !== undefined)
      .map(([property, value]) => ({ id: property, value })),
  };
}

/** The line of this name always in this colour, whatever is filtered. */
export function inColor(name: string, color: string): JsonObject {
  return field(name, { color: { mode: 'fixed', fixedColor: color } });
}

export const transactionColors: readonly JsonObject[] = [
  inColor('web', 'blue'),
  inColor('other', 'purple'),
];

/** What the other lines make up together. */
export function inFront(name: string): JsonObject {
  return field(name, { color: { mode: 'fixed', fixedColor: 'text' }, 'custom.lineWidth': 2 });
}

/** A line to compare with, which must not outshine the others. */
export function inBackground(name: string | RegExp): JsonObject {
  return field(name, {
    color: { mode: 'fixed', fixedColor: 'gray' },
    'custom.lineStyle': { fill: 'dash', dash: [8, 6] },
    'custom.fillOpacity': 0,
    'custom.stacking': { group: 'A', mode: 'none' },
  });
}
