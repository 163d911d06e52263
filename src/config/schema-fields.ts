import { z } from 'zod';
import { ownLabels } from '../model/own-names.ts';
import { holdsControl } from '../model/shown-text.ts';
import { type WindowSetting, wholeMinutes } from '../model/window.ts';
import { type DurationBounds, durationPattern, parseDuration } from './duration.ts';
import type { parseProxyUrl, Refuse } from './url.ts';

/** The error of a value that is no map. */
export const aMap = { error: 'must be a map' };

/** Settings that are texts, or are not there. */
export type Texts<Key extends string> = Partial<Readonly<Record<Key, string>>>;

/** The maps of a file, in words, each with its keys. */
export type KeyPlaces = readonly (readonly [where: string, keys: readonly string[]])[];

/** A map with these keys. The message about others lists them. */
export function mapOf<Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? keys : aMap.error),
  });
}

/** The error of a value that is no list. */
export const aList = { error: 'must be a list' };
/** The error of a list that must have an entry, or a text a character. */
export const notEmpty = { error: 'must not be empty' };

/** Refuses a list that holds the same text twice. */
export function eachOnce(items: readonly unknown[], context: z.core.$RefinementCtx): void {
  for (const [index, item] of items.entries()) {
    if (items.indexOf(item) === index) continue;
    context.addIssue({ code: 'custom', message: 'must appear only once', path: [index] });
  }
}

/** A field with a parser of our own, which refuses what it gives no value for. `json` describes it in JSON Schema. */
export function parsed<Value>(
  parse: (value: unknown, refuse: Refuse) => Value | undefined,
  json: Readonly<Record<string, unknown>>,
): z.ZodType<Value> {
  return z
    .unknown()
    .transform((input, context) => {
      const refuse: Refuse = (message, help) => {
        context.issues.push({ code: 'custom', message, input, params: { help } });
        return undefined;
      };
      return parse(input, refuse) ?? z.NEVER;
    })
    .meta(json);
}

/** A string that is not empty and can be printed. */
export function text(description: string, longest?: number): z.ZodType<string> {
  const written = z.string({ error: 'must be a string' }).min(1, notEmpty);
  const bounded =
    longest === undefined
      ? written
      : written.max(longest, { error: `must have at most ${longest} characters` });
  return bounded
    .refine((value) => !holdsControl(value), { error: 'must not hold control characters' })
    .meta({ description });
}

/** One of these words. */
export function choice<Of extends string>(words: readonly Of[], about?: string): z.ZodType<Of> {
  const listed = words.join(', ').replace(/, (?=[^,]*$)/u, ' or ');
  return z.enum(words, { error: `must be ${listed}` }).meta({ description: about });
}

export function flag(description: string): z.ZodType<boolean> {
  return z.boolean({ error: 'must be true or false' }).meta({ description });
}

export function wholeNumberField(
  { min, max }: { readonly min: number; readonly max: number },
  description: string,
): z.ZodType<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const error = `must be a whole number ${range}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).meta({ description });
}

export function duration(bounds: DurationBounds, description: string): z.ZodType<number> {
  return parsed(
    (value, refuse) => parseDuration(value, bounds, refuse),
    bounds.minMs === 0
      ? { anyOf: [{ type: 'string', pattern: durationPattern }, { const: 0 }], description }
      : { type: 'string', pattern: durationPattern, description },
  );
}

/** An averaging range: a duration, or `default` for New Relic's own. */
export function windowField(bounds: DurationBounds, description: string): z.ZodType<WindowSetting> {
  return parsed(
    (value, refuse): WindowSetting | undefined => {
      if (value === 'default') return { kind: 'vendor_default' };
      const lengthMs = parseDuration(value, bounds, refuse);
      return lengthMs === undefined
        ? undefined
        : { kind: 'range', lengthMs: wholeMinutes(lengthMs) };
    },
    { type: 'string', pattern: `^default$|${durationPattern}`, description },
  );
}

export function url(parse: typeof parseProxyUrl, description: string): z.ZodType<string> {
  return parsed(
    // The message does not repeat the value: a URL may hold a password.
    (value, refuse) => parse(typeof value === 'string' ? value : '', refuse),
    { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://', description },
  );
}

/** Long numbers are bigints. */
function isId(value: unknown): boolean {
  if (typeof value === 'bigint') return value > 0n;
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0;
  return typeof value === 'string' && /^[1-9][0-9]*$/u.test(value);
}

/** For the GUID that New Relic gives the entity of an application: its id is in it. */
function guidHelp(value: unknown): string | undefined {
  const guid = typeof value === 'string' ? Buffer.from(value, 'base64').toString() : '';
  const found = /^\d+\|APM\|APPLICATION\|(\d+)$/u.exec(guid)?.[1];
  return found === undefined ? undefined : `this is the GUID of ${found}: write that`;
}

/** A whole number of at least 1, as a number or in quotes. */
function id(example: string, largest: bigint, description: string): z.ZodType<bigint> {
  const problem = `must be a whole number of at least 1, such as ${example}`;
  return parsed(
    (value, refuse) => {
      if (!isId(value)) return refuse(problem, guidHelp(value));
      const number = BigInt(String(value));
      return number > largest ? refuse(`must be at most ${largest}`) : number;
    },
    {
      type: ['integer', 'string'],
      minimum: 1,
      exclusiveMaximum: Number(largest + 1n),
      pattern: `^[1-9][0-9]{0,${String(largest).length - 1}}$`,
      description,
    },
  );
}

/** An application id, kept as its decimal digits: New Relic's are 64-bit numbers. */
export function applicationId(description: string): z.ZodType<string> {
  return id('31584797', 10n ** 19n - 1n, description)
    .transform(String)
    .meta({ description });
}

/** The id of a New Relic account, which NerdGraph takes as the type Int of GraphQL. */
export function accountId(description: string): z.ZodType<number> {
  return id('1234567', 2n ** 31n - 1n, description)
    .transform(Number)
    .meta({ description });
}

/** The hosts to read: all, none, the one this process runs on, or some by their names. */
export type FileHosts = boolean | 'self' | { readonly match?: string; readonly exclude?: string };

const pattern = z.string().min(1).exactOptional();

const hosts: z.ZodType<FileHosts> = z.union([
  z.boolean(),
  z.literal('self'),
  z
    .strictObject({ match: pattern, exclude: pattern })
    .refine((some) => Object.keys(some).length > 0)
    .meta({ minProperties: 1 }),
]);

/** Chooses hosts. Of the alternatives, one message names them all. */
export function hostChoice(description: string): z.ZodType<FileHosts> {
  const { anyOf } = z.toJSONSchema(hosts, { target: 'draft-7' });
  return parsed(
    (input, refuse) =>
      hosts.safeParse(input).data ??
      refuse(
        'must be true, false, self or a map of "match", "exclude" or both, each a regular expression',
        'for some hosts write hosts: { match: "^web-" }',
      ),
    { anyOf, description },
  );
}

/** A regular expression. Another check tells whether it is valid. */
export function regularExpression(description: string): z.ZodType<string> {
  const error = 'must be a regular expression in quotes';
  return z.string({ error }).min(1, notEmpty).meta({ description });
}

/** The form of a Prometheus label name. */
const labelNamePattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** Usual target labels: Prometheus would rename ours to `exported_…`. */
export const targetLabels: readonly string[] =
  'job instance namespace pod container service endpoint node app type region'.split(' ');

const validName = new RegExp(labelNamePattern, 'u');

/** Tells what is wrong with the name of an extra label; `undefined` if nothing is. */
export function labelProblem(name: string, own: readonly string[] = ownLabels): string | undefined {
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
      const problem = labelProblem(value, own);
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
    const problem = where !== undefined ? `is there already, ${where}` : labelProblem(label, own);
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
export function tagsField(description: string): z.ZodType<Readonly<Record<string, string>>> {
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
