import { customMetric } from '../../config/metric-schema.ts';
import { type PresetName, presetNames } from '../../model/presets.ts';
import { unprintable } from '../../model/shown-text.ts';
import { isRated, isValueName, type ValueName } from '../../model/vendor-value.ts';
import type { ListedMetric } from '../survey/metric-lists.ts';
import { createGaugeNames, type NameGauge } from './gauge-names.ts';
import { presetOf, presetsOf } from './metrics-text.ts';

/** Values that are the same as others, once they are published: only the first of each pair is offered. */
const same: readonly (readonly [ValueName, ValueName])[] = [
  ['average_response_time', 'average_call_time'],
  ['requests_per_minute', 'calls_per_minute'],
  ['call_count', 'count'],
  ['used_bytes_by_host', 'used_mb_by_host'],
];

/** What an entry has if it names no metrics. */
const usual: PresetName = 'throughput';

/**
 * The list of metrics as the `metrics` of a configuration: the presets that read some of them, then, as
 * comments, a line for each other value. Each would be a series of every application and host, so which
 * of them are wanted is not guessed.
 */
export function metricsYaml(
  metrics: readonly ListedMetric[],
  /** Whether the metrics are those of one host. */
  { isOfHost }: { readonly isOfHost: boolean },
): string {
  const used = new Set(metrics.flatMap(presetsOf));
  const nameGauge = createGaugeNames();
  const lines = [
    'metrics:',
    ...presetNames
      .filter((preset) => preset === usual || used.has(preset))
      .map((preset) => `  - ${preset}`),
    ...metrics.flatMap((metric) => commentsOf(metric, isOfHost ? ', for: hosts' : '', nameGauge)),
  ];
  return `${lines.join('\n')}\n`;
}

/** What of a metric no preset reads. */
function commentsOf(
  { name, values }: ListedMetric,
  scope: string,
  nameGauge: NameGauge,
): readonly string[] {
  const metric = quotedOnOneLine(name);
  // Control characters, for example, are refused in a configuration.
  if (!customMetric.safeParse({ metric: name, value: 'count', as: 'x' }).success) {
    return [`  # ${metric}: a configuration cannot have this name`];
  }
  if (values === undefined) return [`  # ${metric}: NerdGraph does not tell which values it has`];
  const left = values.filter(
    (value) =>
      presetOf(name, value) === undefined &&
      (value !== 'score' || isRated(name)) &&
      !same.some(([first, second]) => value === second && values.includes(first)),
  );
  return left.map((value) => {
    if (!isValueName(value)) {
      return `  # ${metric}: the exporter does not know ${quotedOnOneLine(value)}`;
    }
    const { as, label } = nameGauge(name, value);
    const labels =
      label === undefined ? '' : `, labels: { ${label[0]}: ${quotedOnOneLine(label[1])} }`;
    return `  # - { metric: ${metric}, value: ${value}, as: ${as}${labels}${scope} }`;
  });
}

/** A text as YAML reads it, with nothing in it that could end a line or hide. */
export function quotedOnOneLine(text: string): string {
  return JSON.stringify(text).replaceAll(notInYaml, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

const notInYaml = new RegExp(String.raw`[${unprintable}\uFFFE\uFFFF]`, 'gu');
