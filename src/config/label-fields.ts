import { z } from 'zod';
import { aMap, text } from './schema-fields.ts';

/** The form of a Prometheus label name. */
const labelNamePattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** Usual target labels: Prometheus would rename ours to `exported_…`. */
const targetLabels = [
  'job',
  'instance',
  'namespace',
  'pod',
  'container',
  'service',
  'endpoint',
  'node',
  'app',
  'type',
  'region',
];

const ownLabels = [
  'account',
  'app_id',
  'app_name',
  'host_id',
  'host_name',
  'transaction_type',
  'language',
  'status',
  'reason',
];

/** Labels of the exporter on the series of queries. */
export const queryLabels: readonly string[] = ['account', 'query', 'quantile', 'le'];

const validName = new RegExp(labelNamePattern, 'u');

/** Tells what is wrong with the name of an extra label; `undefined` if nothing is. */
function labelNameProblem(name: string, own: readonly string[] = ownLabels): string | undefined {
  if (!validName.test(name)) {
    return 'is not a valid label name: use letters, digits and "_", not starting with a digit';
  }
  if (name.startsWith('__')) {
    return 'is not allowed as a label name: Prometheus keeps names that start with "__" for itself';
  }
  if (own.includes(name)) {
    return 'is not allowed as a label name: the exporter sets this label itself';
  }
  if (targetLabels.includes(name)) {
    return 'is not allowed as a label name: it is a common label of scrape targets, so Prometheus would rename it';
  }
  return undefined;
}

/** @param own labels that the exporter sets itself there */
export function labelName(own: readonly string[] = ownLabels): z.ZodString {
  return z
    .string({ error: 'must be a string' })
    .superRefine((value, context) => {
      const message = labelNameProblem(value, own);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: labelNamePattern, not: { enum: [...targetLabels, ...own] } });
}

/** Extra labels, by name. */
export function labels(
  description: string,
  own?: readonly string[],
): z.ZodType<Readonly<Record<string, string>>> {
  return z.record(labelName(own), text('Value of the label.'), aMap).meta({ description });
}

/** What is wrong with a label that a foreign name becomes, and what helps. It joins those that are taken. */
export function derivedLabelProblem(
  [name, label]: readonly [name: string, label: string],
  taken: Set<string>,
  own?: readonly string[],
): readonly [message: string, help: string] | undefined {
  const isTaken = taken.size === taken.add(label).size;
  const problem = isTaken ? 'is there already' : labelNameProblem(label, own);
  if (problem === undefined) return undefined;
  const help = `write a map with ${JSON.stringify(name)}: newrelic_${snakeCase(name)}`;
  return [`makes "${name}" the label "${label}", which ${problem}`, help];
}

/** A foreign name as a label: "appName" is "app_name". */
export function snakeCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1_$2')
    .replaceAll(/[^a-zA-Z0-9]+/gu, '_')
    .replaceAll(/^_+|_+$/gu, '')
    .toLowerCase()
    .replace(/^(?=\d)/u, '_');
}

/** Tags of applications, and the labels that they become. */
export type FileTags = Readonly<Record<string, string>>;

/** A list of tags, or a map from tags to labels. */
export function tags(description: string): z.ZodType<FileTags> {
  const tag = text('A tag of the entity in New Relic.');
  return z
    .union([
      z
        .array(tag, { error: 'must be a list of tags, or a map from tags to labels' })
        .transform((list) => Object.fromEntries(list.map((key) => [key, snakeCase(key)]))),
      z.record(z.string(), labelName(), aMap),
    ])
    .meta({ description });
}
