import type { z } from 'zod';
import { errorAt, type Problem } from './diagnostic.ts';
import { describe, entryAt, type Located, type LocatedScalar, locate } from './located.ts';
import { closest, didYouMean } from './suggestion.ts';
import { variableHelp, variableReference } from './variable-reference.ts';

type Issue = z.core.$ZodIssue;
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The subject of an issue, in the words of the file. */
function subjectOf(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (typeof last === 'number') return `each entry of "${String(path.at(-2))}"`;
  return last === undefined ? 'the file' : `"${String(last)}"`;
}

/** Whether a map has a key that was probably meant to be one of `names`. */
export function hasMisspelt(map: Located | undefined, names: readonly string[]): boolean {
  if (map?.kind !== 'map') return false;
  return [...map.entries.keys()].some(
    (key) => !names.includes(key) && closest(key, names) !== undefined,
  );
}

/** The keys that the schema allows in the map at a path of the file. */
export function knownKeysAt(
  fileJsonSchema: z.core.JSONSchema.BaseSchema,
  path: readonly PropertyKey[],
): readonly string[] {
  let schema: z.core.JSONSchema._JSONSchema | undefined = fileJsonSchema;
  for (const step of path) {
    if (typeof schema !== 'object') return [];
    const items: z.core.JSONSchema.BaseSchema['items'] = schema.items;
    if (typeof step === 'string') schema = schema.properties?.[step];
    else schema = Array.isArray(items) ? undefined : items;
  }
  if (typeof schema !== 'object') return [];
  // What may be a text or a map has the keys of the map.
  const alternatives = [schema, ...(schema.anyOf ?? [])].filter((one) => typeof one === 'object');
  return alternatives.flatMap(({ properties }) => Object.keys(properties ?? {}));
}

/** A key that is right elsewhere in YAML. */
const unsupportedKeys: Readonly<Record<string, { message: string; help: string }>> = {
  '<<': {
    message: 'merge keys ("<<") are not supported',
    help: 'write the keys themselves; an alias may only be a whole value',
  },
};

function unknownKeys(
  root: Located,
  issue: z.core.$ZodIssueUnrecognizedKeys,
  schema: JsonSchema,
): readonly Problem[] {
  const known = knownKeysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const span = entryAt(root, [...issue.path, key])?.keySpan;
    const unsupported = Object.hasOwn(unsupportedKeys, key) ? unsupportedKeys[key] : undefined;
    if (unsupported !== undefined) return errorAt(span, unsupported.message, unsupported.help);
    const help = didYouMean(key, known) ?? `the keys here are ${known.join(', ')}`;
    return errorAt(span, `unknown key "${key}"`, help);
  });
}

/** Reports a missing key, unless a misspelt key is reported instead. */
function missingKey(root: Located, path: readonly PropertyKey[]): readonly Problem[] {
  const key = String(path.at(-1));
  const parent = locate(root, path.slice(0, -1));
  return hasMisspelt(parent, [key]) ? [] : [errorAt(parent?.span, `missing key "${key}"`)];
}

function quotesHelp(found: LocatedScalar): string | undefined {
  const { value, source } = found;
  return typeof value === 'string' || value === null ? undefined : `put it in quotes: "${source}"`;
}

/** Whether it helps to repeat the value: a text may be long, and an empty list tells nothing. */
function namesFound(issue: Issue): boolean {
  if (issue.code === 'too_small' || issue.code === 'too_big')
    return issue.origin !== 'string' && issue.origin !== 'array';
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

/** YAML reads `-id: 1` as a key that begins with a dash. */
function dashHelp(issue: Issue, found: Located): string | undefined {
  const isListWanted = issue.code === 'invalid_type' && issue.expected === 'array';
  if (!isListWanted || found.kind !== 'map') return undefined;
  const hasDashes = [...found.entries.keys()].some((key) => key.startsWith('-'));
  return hasDashes ? 'write a blank after the "-"' : 'write "- " in front of each entry';
}

function helpFor(issue: Issue, found: Located): string | undefined {
  // A password may look like a reference.
  const isSecret = issue.code === 'custom' && issue.params?.['isSecret'] === true;
  const reference =
    found.kind === 'scalar' && typeof found.value === 'string' && !isSecret
      ? variableReference(found.value)
      : undefined;
  if (reference !== undefined) {
    return `variables such as ${reference} are not replaced in this file: ${variableHelp}`;
  }
  if (found.kind !== 'scalar') return customHelp(issue) ?? dashHelp(issue, found);
  return customHelp(issue) ?? scalarHelp(issue, found);
}

function customHelp(issue: Issue): string | undefined {
  if (issue.code === 'custom') {
    const help: unknown = issue.params?.['help'];
    return typeof help === 'string' ? help : undefined;
  }
  return undefined;
}

function scalarHelp(issue: Issue, found: LocatedScalar): string | undefined {
  if (issue.code === 'invalid_value') return didYouMean(found.source, issue.values.map(String));
  return issue.code === 'invalid_type' && issue.expected === 'string'
    ? quotesHelp(found)
    : undefined;
}

function wrongValue(issue: Issue, found: Located): readonly Problem[] {
  const what = namesFound(issue) ? `${issue.message}, not ${describe(found)}` : issue.message;
  return [errorAt(found.span, `${subjectOf(issue.path)} ${what}`, helpFor(issue, found))];
}

/**
 * The issues of the alternative that was probably meant: one that fits as far as its keys, or else the
 * first.
 */
function issuesOfAlternative(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] {
  const isWithin = ({ path, code }: Issue): boolean =>
    path.length > 0 || code === 'unrecognized_keys';
  const meant = issue.errors.find((issues) => issues.some(isWithin)) ?? issue.errors[0] ?? [];
  return meant.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function problemsOf(root: Located, issue: Issue, schema: JsonSchema): readonly Problem[] {
  if (issue.code === 'invalid_union') {
    return issuesOfAlternative(issue).flatMap((one) => problemsOf(root, one, schema));
  }
  if (issue.code === 'unrecognized_keys') return unknownKeys(root, issue, schema);
  if (issue.code === 'invalid_key') {
    const message = issue.issues[0]?.message ?? 'is not allowed';
    return [errorAt(entryAt(root, issue.path)?.keySpan, `${subjectOf(issue.path)} ${message}`)];
  }
  const found = locate(root, issue.path);
  return found === undefined ? missingKey(root, issue.path) : wrongValue(issue, found);
}

/** Turns the errors of a schema into problems with a place, in the words of the file. */
export function shapeProblems(
  root: Located,
  error: z.ZodError,
  schema: JsonSchema,
): readonly Problem[] {
  return error.issues.flatMap((issue) => problemsOf(root, issue, schema));
}
