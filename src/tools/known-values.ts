import { presetNames, presets } from '../model/presets.ts';
import type { ValueName } from '../model/vendor-value.ts';

/** What New Relic documents of every metric that counts calls and takes their time. */
const ofCalls: readonly ValueName[] = [
  'average_response_time',
  'call_count',
  'max_response_time',
  'min_response_time',
  'requests_per_minute',
  'standard_deviation',
];

/** Metrics under these names are calls and their times, in every language. */
const calls = /^(?:HttpDispatcher$|(?:OtherTransaction|WebTransaction|Datastore|External)\/)/;

const ofApdex: readonly ValueName[] = ['count', 'f', 's', 'score', 't', 'threshold'];

/**
 * Values that a metric has for certain, judging by its name: NerdGraph does not tell. `undefined` where
 * the name does not say it.
 */
export function surelyHas(name: string): readonly ValueName[] | undefined {
  if (calls.test(name)) return ofCalls;
  if (name === 'Apdex') return ofApdex;
  const read = presetNames
    .flatMap((preset) => presets[preset])
    .flatMap(({ sources }) => Object.values(sources))
    .filter(({ metric }) => metric === name)
    .map(({ value }) => value);
  return read.length === 0 ? undefined : read;
}
