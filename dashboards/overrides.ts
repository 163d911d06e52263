import type { Json, JsonObject } from './json.ts';
import { stepsOf, type Threshold } from './panel.ts';

/** Properties of a field by the id that Grafana knows them by. */
export type Properties = Readonly<Record<string, Json>>;

function overrideOf(matcher: JsonObject, properties: Properties): JsonObject {
  return {
    matcher,
    properties: Object.entries(properties)
      .filter(([, value]) => value !== undefined)
      .map(([id, value]) => ({ id, value })),
  };
}

/** For the field of this name: a series by its legend, or a column. */
export function byName(name: string, properties: Properties): JsonObject {
  return overrideOf({ id: 'byName', options: name }, properties);
}

/** For the fields whose name matches, such as `/^5/`. */
function byRegexp(pattern: string, properties: Properties): JsonObject {
  return overrideOf({ id: 'byRegexp', options: pattern }, properties);
}

/** Thresholds as a field has them. */
export function thresholdsOf(thresholds: readonly Threshold[]): JsonObject {
  return { mode: 'absolute', steps: stepsOf(thresholds, 'transparent') };
}

function fixed(color: string): Properties {
  return { color: { mode: 'fixed', fixedColor: color } };
}

/** The same colours whatever is filtered. */
export const transactionColors: readonly JsonObject[] = [
  byName('web', fixed('blue')),
  byName('other', fixed('purple')),
];

/** By the reason of a failure, so that none looks as if all were well. */
export const reasonColors: readonly JsonObject[] = Object.entries({
  none: 'gray',
  auth: 'red',
  server: 'dark-red',
  client: 'light-red',
  throttled: 'orange',
  timeout: 'yellow',
  dns: 'purple',
  connect: 'dark-purple',
  tls: 'light-purple',
  reset: 'super-light-purple',
  redirect: 'blue',
  too_large: 'dark-blue',
  not_json: 'light-blue',
  schema: 'super-light-blue',
  not_found: 'dark-yellow',
}).map(([reason, color]) => byName(reason, fixed(color)));

/** The line of this name always in this colour. */
export function inColor(name: string, color: 'blue' | 'orange' | 'red'): JsonObject {
  return byName(name, fixed(color));
}

const background: Properties = {
  ...fixed('gray'),
  'custom.lineStyle': { fill: 'dash', dash: [8, 6] },
  'custom.fillOpacity': 0,
};

/** A line to compare with, which must not outshine the others. */
export function inBackground(name: string): JsonObject {
  return byName(name, background);
}

/** As `inBackground`, for all lines whose names end so. */
export function allInBackground(ending: string): JsonObject {
  return byRegexp(`/${ending}$/`, background);
}
