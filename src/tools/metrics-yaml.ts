import { countOf } from '../cli/one-shot.ts';
import { customMetric } from '../config/metric-schema.ts';
import type { ListedMetric } from '../model/metric-list.ts';
import { type PresetName, presetNames } from '../model/presets.ts';
import { isValueName, type ValueName } from '../model/vendor-value.ts';
import { createGaugeNames, type NameGauge } from './gauge-names.ts';
import { presetOf, presetsOf } from './preset-values.ts';

/**
 * What is proposed of a metric: the first of these that it has. The others are further ways to see the
 * same, and stand beside it as comments.
 */
const mostUseful: readonly ValueName[] = [
  'score',
  'errors_per_minute',
  'percent',
  'utilization',
  'time_percentage',
  'as_percentage',
  'used_bytes_by_host',
  'used_mb_by_host',
  'sessions_active',
  'average_response_time',
  'average_call_time',
  'average_time',
  'average_value',
  'requests_per_minute',
  'calls_per_minute',
];

/** Values that are the same as others, once they are published: only the first of each pair is offered. */
const same: readonly (readonly [ValueName, ValueName])[] = [
  ['average_response_time', 'average_call_time'],
  ['requests_per_minute', 'calls_per_minute'],
  ['call_count', 'count'],
  ['used_bytes_by_host', 'used_mb_by_host'],
];

/** What presets read in parts. */
const sums: ReadonlySet<string> = new Set(['Datastore/all', 'Errors/all']);

/** Nobody wants a series of each of more metrics than this; choosing among them would be a guess. */
const mostProposed = 50;

/** What an entry has if it names no metrics. */
const usual: PresetName = 'throughput';

export interface YamlOptions {
  /** Whether the metrics are those of one host. */
  readonly isOfHost: boolean;
}

/**
 * The list of metrics as the `metrics` of a configuration: presets as far as they read them, then a line
 * for each other value. At most one value of a metric is in force, the others are comments.
 */
export function metricsYaml(metrics: readonly ListedMetric[], { isOfHost }: YamlOptions): string {
  const used = new Set(metrics.flatMap(({ name, values = [] }) => presetsOf(name, values)));
  const others = metrics.map(withoutPresets).filter((metric) => metric !== undefined);
  const isProposed = others.filter(({ values }) => values.length > 0).length <= mostProposed;
  const scope = isOfHost ? ', for: hosts' : '';
  const nameGauge = createGaugeNames();
  const lines = [
    'metrics:',
    ...presetNames
      .filter((preset) => preset === usual || used.has(preset))
      .map((preset) => `  - ${preset}`),
    ...(isProposed
      ? []
      : [`  # ${countOf(others.length, 'metric')}: remove the # of what you want.`]),
    ...others.flatMap((metric) => linesOf(metric, { isProposed, scope, nameGauge })),
  ];
  return `${lines.join('\n')}\n`;
}

/** What of a metric no preset reads. */
interface OtherMetric {
  readonly name: string;
  /** The most useful one first. */
  readonly values: readonly ValueName[];
  /** What is only a remark. */
  readonly remark: string | undefined;
  /** Whether a preset reads another value of it, or its parts. */
  readonly isRead: boolean;
}

function withoutPresets({ name, values }: ListedMetric): OtherMetric | undefined {
  if (!isConfigurable(name)) {
    return { name, values: [], remark: 'a configuration cannot have this name', isRead: false };
  }
  if (values === undefined) {
    const remark = 'NerdGraph does not tell which values it has';
    return { name, values: [], remark, isRead: false };
  }
  const left = values.filter(
    (value) =>
      presetOf(name, value) === undefined &&
      !same.some(([first, second]) => value === second && values.includes(first)),
  );
  if (left.length === 0) return undefined;
  const unknown = left.filter((value) => !isValueName(value));
  return {
    name,
    values: left.filter(isValueName).toSorted((one, other) => rankOf(one) - rankOf(other)),
    remark:
      unknown.length === 0
        ? undefined
        : `the exporter does not know ${unknown.map(quotedOnOneLine).join(', ')}`,
    isRead: presetsOf(name, values).length > 0 || sums.has(name),
  };
}

/** Control characters, for example, are refused in a configuration. */
function isConfigurable(name: string): boolean {
  return customMetric.safeParse({ metric: name, value: 'count', as: 'x' }).success;
}

function rankOf(value: ValueName): number {
  const rank = mostUseful.indexOf(value);
  return rank === -1 ? mostUseful.length : rank;
}

function linesOf(
  { name, values, remark, isRead }: OtherMetric,
  {
    isProposed,
    scope,
    nameGauge,
  }: { readonly isProposed: boolean; readonly scope: string; readonly nameGauge: NameGauge },
): readonly string[] {
  const metric = quotedOnOneLine(name);
  return [
    ...values.map((value, index) => {
      const mark = isProposed && !isRead && index === 0 ? '-' : '# -';
      return `  ${mark} { metric: ${metric}, value: ${value}, as: ${nameGauge(name, value)}${scope} }`;
    }),
    ...(remark === undefined ? [] : [`  # ${metric}: ${remark}`]),
  ];
}

/** A text as YAML reads it, with nothing in it that could end a line or hide. */
function quotedOnOneLine(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu,
    (character) => {
      const code = (character.codePointAt(0) ?? 0).toString(16);
      return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
    },
  );
}
