import { quoted, unprintable } from '../model/shown-text.ts';

/** One line of the log as data: plain JSON values, without secrets. */
export interface LogEntry {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A field of a line, with a text, a number, a boolean, a list or `null`. */
export type FlatField = readonly [name: string, value: unknown];

/** The fields without objects inside: `error: { reason: 'dns' }` becomes `error.reason`. */
export function flatFields(fields: Readonly<Record<string, unknown>>): readonly FlatField[] {
  return Object.entries(fields).flatMap(([name, value]): readonly FlatField[] => {
    if (!isRecord(value) || Object.keys(value).length === 0) return [[name, value]];
    return flatFields(value).map(([inner, item]) => [`${name}.${inner}`, item]);
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Readers of logfmt end a name at these; none of our own names has them. */
const notInNames = new RegExp(`[\\s"=${unprintable}]`, 'gu');

/** Without quotes: nothing that ends a value or needs an escape, and nothing that looks like `null`. */
const plainText = /^(?!null$)[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u;

/**
 * The entry in logfmt, as Loki, Grafana and `slog` of Go know it: `level`, `time` and `msg` first, fields
 * inside of others with a dot (`error.reason`), lists as JSON. A value in quotes is a JSON string.
 */
export function logfmtLine({ level, time, msg, ...fields }: LogEntry): string {
  return flatFields({ level, time, msg, ...fields })
    .map(([name, value]) => `${name.replaceAll(notInNames, '_')}=${logfmtValue(value)}`)
    .join(' ');
}

/** A value of a flat field as logfmt has it. */
export function logfmtValue(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return plainText.test(text) && !/["=\\]/.test(text) ? text : quoted(text);
}
