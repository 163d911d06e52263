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

/** Names that `labels` must not use. */
const reservedLabelNames: readonly string[] = [...targetLabels, ...ownLabels];

const validName = new RegExp(labelNamePattern, 'u');

/** Tells what is wrong with the name of an extra label; `undefined` if nothing is. */
function labelNameProblem(name: string): string | undefined {
  if (!validName.test(name)) {
    return 'is not a valid label name: use letters, digits and "_", not starting with a digit';
  }
  if (name.startsWith('__')) {
    return 'is not allowed as a label name: Prometheus keeps names that start with "__" for itself';
  }
  if (ownLabels.includes(name)) {
    return 'is not allowed as a label name: the exporter sets this label itself';
  }
  if (targetLabels.includes(name)) {
    return 'is not allowed as a label name: it is a common label of scrape targets, so Prometheus would rename it';
  }
  return undefined;
}

/** Extra labels, by name. */
export function labels(description: string): z.ZodType<Readonly<Record<string, string>>> {
  const name = z
    .string()
    .superRefine((value, context) => {
      const message = labelNameProblem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: labelNamePattern, not: { enum: reservedLabelNames } });
  return z.record(name, text('Value of the label.'), aMap).meta({ description });
}
