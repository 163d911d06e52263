import { unprintable } from '../model/line-text.ts';
import { quoted } from './escape-text.ts';
import { flatFields, type LogEntry } from './log-entry.ts';

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
