import { z } from 'zod';
import { isOwnMetricName } from '../model/own-names.ts';
import {
  type CustomMetric,
  hostGaugeName,
  type MetricChoice,
  type MetricScope,
  metricScopes,
} from '../model/polled-series.ts';
import { type PresetName, presetNames } from '../model/presets.ts';
import { documentUrl } from '../model/shown-text.ts';
import { valueNames } from '../model/vendor-value.ts';
import { aList, choice, eachOnce, labels, mapOf, notEmpty, parsed, text } from './schema-fields.ts';

/** A metric that is no preset, as the file has it, defaults applied. */
export interface FileCustomMetric extends Omit<CustomMetric, 'help' | 'scope'> {
  readonly help?: string;
  readonly for: MetricScope;
}

export type FileMetric = PresetName | FileCustomMetric;

/** An element of a list in the words of the model, with the help texts of gauges by name. */
export function metricChoiceOf(
  metric: FileMetric,
  helps: ReadonlyMap<string, string> = new Map(),
): MetricChoice {
  if (typeof metric === 'string') return metric;
  const { for: scope, help, ...rest } = metric;
  return { ...rest, help: help ?? helps.get(metric.as), scope };
}

/** New Relic keeps no longer names of metrics. */
const longestMetricName = 255;

const preset = z
  .enum(presetNames, { error: `must be a preset (${presetNames.join(', ')}) or a map` })
  .meta({ description: 'A preset.' });

const value = z
  .enum(valueNames, { error: `must be one of the values in ${documentUrl('metrics.md#values')}` })
  .meta({ description: 'Which value of it to read, as in the REST API.' });

const gaugeNamePattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';
const validGaugeName = new RegExp(gaugeNamePattern, 'u');
const endingOfOtherTypes = /_(?:total|count|sum|bucket|info|created)$/u;
/** Metrics of Prometheus itself, and the metrics that every program in Go has. */
const foreignName = /^(?:up$|scrape_|ALERTS|go_)/u;

export const gaugeNameField: z.ZodType<string> = parsed(
  (name, refuse) => {
    if (typeof name !== 'string') return refuse('must be a string');
    if (name === '') return refuse('must not be empty');
    if (!validGaugeName.test(name)) {
      const valid = name.replaceAll(/[^a-zA-Z0-9_]+/gu, '_').replace(/^(?=\d)/u, '_');
      const problem = 'must consist of letters, digits and "_", and not begin with a digit';
      return refuse(problem, `did you mean "${valid}"?`);
    }
    if (name.startsWith('__')) {
      return refuse('must not begin with "__": Prometheus keeps such names for itself');
    }
    const ending = endingOfOtherTypes.exec(name)?.[0];
    if (ending !== undefined) {
      const problem = `must not end in "${ending}", which metrics of other types end in: this is a gauge`;
      return refuse(problem, 'leave out the ending');
    }
    if ([name, hostGaugeName(name)].some(isOwnMetricName)) {
      const problem = 'must not be the name of a metric that the exporter has itself';
      return refuse(problem, 'choose another name');
    }
    if (!foreignName.test(name)) return name;
    const problem =
      'must not be a name that Prometheus or other programs use for their own metrics';
    return refuse(problem, `choose another name, such as "app_${name}"`);
  },
  {
    type: 'string',
    pattern: gaugeNamePattern,
    not: { pattern: `^__|${endingOfOtherTypes.source}` },
  },
);

const scale = parsed(
  (factor, refuse) => {
    // Whole numbers beyond 2^53 are bigints.
    const number = typeof factor === 'bigint' ? Number(factor) : factor;
    const isAbove0 = typeof number === 'number' && number > 0 && Number.isFinite(number);
    return isAbove0 ? number : refuse('must be a number above 0');
  },
  {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'Factor on the value in seconds, bytes or a ratio of 1.',
  },
);

const metricMap = mapOf({
  metric: text("New Relic's name of the metric.", longestMetricName),
  value,
  as: gaugeNameField.meta({
    description: 'The gauge of applications, such as "shop_x"; that of hosts is "host_shop_x".',
  }),
  scale: scale.prefault(1),
  help: text('Help text of the gauges; by default it names the metric.').exactOptional(),
  labels: labels('Extra labels on every series of this metric.').prefault({}),
  for: choice(metricScopes, 'What the metric is read of.').prefault('both'),
}).meta({ description: 'Any other metric, as a gauge.' });

export const customMetric: z.ZodType<FileCustomMetric> = metricMap;
export const metricKeys: readonly string[] = Object.keys(metricMap.shape);

/** What is read of applications and hosts: presets, and metrics that the file names itself. */
export const metricsField: z.ZodType<readonly FileMetric[]> = z
  .array(z.union([preset, customMetric]), aList)
  .min(1, notEmpty)
  .superRefine(eachOnce)
  .meta({
    uniqueItems: true,
    description: 'What is read of applications and hosts: presets, and other metrics as maps.',
  });
