import { z } from 'zod';
import { aMap, text } from './schema-fields.ts';

/** The form of a Prometheus label name. */
const labelNamePattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** Usual target labels: Prometheus would rename ours to `exported_…`. */
const targetLabels: readonly string[] =
  'job instance namespace pod container service endpoint node app type region'.split(' ');

const ownLabels: readonly string[] =
  'account app_id app_name host_id host_name transaction_type language status reason'.split(' ');

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

/**
 * @param own labels that the exporter sets itself there
 * @param isValue whether it is what something else becomes: a message then has both
 */
export function labelName(own: readonly string[] = ownLabels, isValue = false): z.ZodString {
  return z
    .string({ error: 'must be a string' })
    .superRefine((value, context) => {
      const problem = labelNameProblem(value, own);
      if (problem === undefined) return;
      const message = isValue ? `becomes the label "${value}", which ${problem}` : problem;
      const help = isValue ? 'choose another label' : undefined;
      context.addIssue({ code: 'custom', message, params: { help } });
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

/** What stands beside labels that foreign names become. */
interface Beside {
  /** The key of the map that gives other labels, and what must stay in it. */
  readonly key: string;
  readonly kept: Readonly<Record<string, string>>;
  /** Labels that are taken, and where. */
  readonly others: Iterable<readonly [label: string, where: string]>;
  readonly own?: readonly string[];
}

/** What is wrong with labels that foreign names become. One map helps against all of it. */
export function derivedLabelProblems(
  labelled: readonly (readonly [name: string, label: string])[],
  { key, kept, others, own }: Beside,
): readonly Readonly<Record<'message' | 'help' | 'proposal', string> & { index: number }>[] {
  const taken = new Map(others);
  const wrong = labelled.flatMap(([name, label], index) => {
    const where = taken.get(label);
    taken.set(label, where ?? `from "${name}"`);
    const problem =
      where !== undefined ? `is there already, ${where}` : labelNameProblem(label, own);
    const message = `makes "${name}" the label "${label}", which ${problem}`;
    return problem === undefined ? [] : [{ name, label, index, message }];
  });
  const found = wrong.map((one) => {
    let proposal = `newrelic_${snakeCase(one.label)}`;
    while (taken.has(proposal)) proposal += '_2';
    taken.set(proposal, `from "${one.name}"`);
    return { ...one, proposal };
  });
  const proposals = found.map(({ name, proposal }) => [name, proposal] as const);
  const help = `write ${inlineMap(key, new Map([...Object.entries(kept), ...proposals]))}`;
  return found.map((one) => ({ ...one, help }));
}

/** A map in YAML, on one line, with its key. */
export function inlineMap(
  key: string,
  entries: Iterable<readonly [name: string, value: string]>,
): string {
  const listed = Array.from(entries, ([name, value]) => {
    return `${/^[A-Za-z_]\w*$/u.test(name) ? name : JSON.stringify(name)}: ${value}`;
  });
  return `${key}: { ${listed.join(', ')} }`;
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

/** A list of tags, or a map from tags to labels; read as a map. */
export function tags(description: string): z.ZodType<Readonly<Record<string, string>>> {
  const tag = text('A tag of the entity in New Relic.');
  return z
    .union([
      z
        .array(tag, { error: 'must be a list of tags, or a map from tags to labels' })
        .transform((list) => Object.fromEntries(list.map((key) => [key, snakeCase(key)]))),
      z.record(z.string(), labelName(ownLabels, true), aMap),
    ])
    .meta({ description });
}
