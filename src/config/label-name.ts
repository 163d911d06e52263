/** What a Prometheus label name may look like. */
export const labelNamePattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** Target labels of common set-ups: on our series they would arrive as `exported_…`. */
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
];

/** Names that `labels` may not use. */
export const reservedLabelNames: readonly string[] = [...targetLabels, ...ownLabels];

const validName = new RegExp(labelNamePattern, 'u');

/** What is wrong with the name of an extra label; `undefined` if nothing is. */
export function labelNameProblem(name: string): string | undefined {
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
