import { z } from 'zod';
import type { WindowSetting } from '../model/window.ts';
import { type DurationBounds, durationPattern, parseDuration } from './duration.ts';
import { didYouMean } from './suggestion.ts';
import type { ParsedUrl } from './url.ts';

/** A label, a header or a log line cannot hold control characters and lone surrogates. */
const unusable = /[\p{Cc}\p{Cs}]/u;

/** The error of a value that is no map. */
export const aMap = { error: 'must be a map' };

/** The error of a value that is no list. */
export const aList = { error: 'must be a list' };
/** The error of a list that must have an entry. */
export const notEmpty = { error: 'must not be empty' };

/** Refuses a list that holds the same text twice. */
export function eachOnce(items: readonly unknown[], context: z.core.$RefinementCtx): void {
  for (const [index, item] of items.entries()) {
    if (items.indexOf(item) === index) continue;
    context.addIssue({ code: 'custom', message: 'must appear only once', path: [index] });
  }
}

/** The result of `parse`: a value, or the message that tells what is wrong. */
export type Parsed<Value> =
  | { readonly value: Value; readonly problem: undefined; readonly help?: string }
  | { readonly value: undefined; readonly problem: string; readonly help?: string };

/** A field with a parser of our own. `json` describes it in JSON Schema. */
export function parsed<Value>(
  parse: (value: unknown) => Parsed<Value>,
  json: Readonly<Record<string, unknown>>,
): z.ZodType<Value> {
  return z
    .unknown()
    .transform((input, context) => {
      const result = parse(input);
      if (result.problem === undefined) return result.value;
      const { problem: message, help } = result;
      context.issues.push({ code: 'custom', message, input, params: { help } });
      return z.NEVER;
    })
    .meta(json);
}

/** A string that is not empty and can be printed. */
export function text(description: string, longest?: number): z.ZodType<string> {
  const written = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' });
  const bounded =
    longest === undefined
      ? written
      : written.max(longest, { error: `must have at most ${longest} characters` });
  return bounded
    .refine((value) => !unusable.test(value), { error: 'must not hold control characters' })
    .meta({ description });
}

export function flag(description: string): z.ZodType<boolean> {
  return z.boolean({ error: 'must be true or false' }).meta({ description });
}

export function wholeNumber(
  { min, max }: { readonly min: number; readonly max: number },
  description: string,
): z.ZodType<number> {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).meta({ description });
}

export function duration(bounds: DurationBounds, description: string): z.ZodType<number> {
  return parsed(
    (value): Parsed<number> => {
      const result = parseDuration(value, bounds);
      if (result.ms === undefined) return { value: undefined, problem: result.problem };
      return { value: result.ms, problem: undefined };
    },
    bounds.minMs === 0
      ? { anyOf: [{ type: 'string', pattern: durationPattern }, { const: 0 }], description }
      : { type: 'string', pattern: durationPattern, description },
  );
}

/** An averaging range: a duration, or `default` for the vendor's own. */
export function window(bounds: DurationBounds, description: string): z.ZodType<WindowSetting> {
  return parsed(
    (value): Parsed<WindowSetting> => {
      if (value === 'default') return { value: { kind: 'vendor_default' }, problem: undefined };
      const result = parseDuration(value, bounds);
      if (result.ms === undefined) return { value: undefined, problem: result.problem };
      return { value: { kind: 'range', lengthMs: result.ms }, problem: undefined };
    },
    { type: 'string', pattern: `^default$|${durationPattern}`, description },
  );
}

export function url(parse: (value: string) => ParsedUrl, description: string): z.ZodType<string> {
  return parsed(
    (value): Parsed<string> => {
      // The message does not repeat the value: a URL may hold a password.
      const result = parse(typeof value === 'string' ? value : '');
      if (result.url === undefined) return { ...result, value: undefined };
      return { value: result.url, problem: undefined };
    },
    { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://', description },
  );
}

/** The vendor's ids are 64-bit numbers, which have at most this many digits. */
const longestIdDigits = 19;
const idPattern = `^[1-9][0-9]{0,${longestIdDigits - 1}}$`;
const idRegExp = new RegExp(idPattern, 'u');

/** An application id: a whole number, kept as its decimal digits. */
export function applicationId(description: string): z.ZodType<string> {
  const problem = 'must be a whole number of at least 1, such as 31584797';
  return parsed(
    (value): Parsed<string> => {
      const isNumber = typeof value === 'bigint' || Number.isSafeInteger(value);
      if (!isNumber && typeof value !== 'string') return { value: undefined, problem };
      const digits = String(value);
      if (/^[0-9]+$/u.test(digits) && digits.length > longestIdDigits) {
        return { value: undefined, problem: `must have at most ${longestIdDigits} digits` };
      }
      if (!idRegExp.test(digits)) return { value: undefined, problem };
      return { value: digits, problem: undefined };
    },
    {
      type: ['integer', 'string'],
      minimum: 1,
      exclusiveMaximum: 10 ** longestIdDigits,
      pattern: idPattern,
      description,
    },
  );
}

/** NerdGraph takes an account id as the type Int of GraphQL, which has 32 bits. */
const largestAccountId = 2 ** 31 - 1;

/** The id of a New Relic account, as a number or in quotes. */
export function accountId(description: string): z.ZodType<number> {
  const problem = 'must be a whole number of at least 1, such as 1234567';
  return parsed(
    (value): Parsed<number> => {
      const isNumber = typeof value === 'bigint' || Number.isSafeInteger(value);
      const isText = isNumber || typeof value === 'string';
      if (!isText || !/^[1-9][0-9]*$/u.test(String(value))) return { value: undefined, problem };
      const id = Number(value);
      if (id <= largestAccountId) return { value: id, problem: undefined };
      return { value: undefined, problem: `must be at most ${largestAccountId}` };
    },
    {
      type: ['integer', 'string'],
      minimum: 1,
      maximum: largestAccountId,
      pattern: '^[1-9][0-9]{0,9}$',
      description,
    },
  );
}

type HostChoice = boolean | 'self' | { readonly match: string };

const hostMap = z.strictObject({ match: z.string().min(1) });

function parseHostChoice(value: unknown): Parsed<HostChoice> {
  if (typeof value === 'boolean' || value === 'self') return { value, problem: undefined };
  const map = hostMap.safeParse(value);
  if (map.success) return { value: map.data, problem: undefined };
  const problem =
    'must be true, false, self or a map with the key "match" and a regular expression';
  const help =
    (typeof value === 'string' ? didYouMean(value, ['self', 'true', 'false']) : undefined) ??
    'for some hosts write { match: "^web-" }';
  return { value: undefined, problem, help };
}

/** Chooses all hosts, none, the one that the exporter runs on, or those whose name matches. */
export function hostChoice(description: string): z.ZodType<HostChoice> {
  const match = { type: 'string', minLength: 1 };
  const map = { type: 'object', properties: { match }, required: ['match'] };
  return parsed(parseHostChoice, {
    anyOf: [{ type: 'boolean' }, { const: 'self' }, { ...map, additionalProperties: false }],
    description,
  });
}

/** A regular expression. Another check tells whether it is valid. */
export function regularExpression(description: string): z.ZodType<string> {
  const error = 'must be a regular expression in quotes';
  return z.string({ error }).min(1, { error: 'must not be empty' }).meta({ description });
}
