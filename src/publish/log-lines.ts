import { escapeUnsafe, quoted, unprintable } from '../model/shown-text.ts';
import type { LogEntry } from './log-value.ts';

/** A field of a line, with a text, a number, a boolean, a list or `null`. */
type FlatField = readonly [name: string, value: unknown];

/** The fields without objects inside: `error: { reason: 'dns' }` becomes `error.reason`. */
function flatFields(fields: object): readonly FlatField[] {
  return Object.entries(fields).flatMap(([name, value]: FlatField): readonly FlatField[] => {
    if (!isRecord(value) || isEmpty(value)) return [[name, value]];
    return flatFields(value).map(([inner, item]) => [`${name}.${inner}`, item]);
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
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

function logfmtValue(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return plainText.test(text) && !/["=\\]/.test(text) ? text : quoted(text);
}

/** Whom a line is about and why, in this order: what somebody reads first. */
const firstFields: readonly string[] = ['account', 'app_name', 'app_id', 'host_id', 'reason'];

/** Texts in whole sentences, in this order, without quotes. */
const proseNames: readonly string[] = ['error', 'problem', 'remedy', 'stack'];

/** Texts that may have several lines: one of our own, and one for those who debug. */
const blockNames: ReadonlySet<string> = new Set(['problem', 'stack']);

/** Colours of the levels, as ANSI escape codes. */
const colors: ReadonlyMap<string, number> = new Map([
  ['debug', 34],
  ['info', 32],
  ['warn', 33],
  ['error', 31],
]);
const bold = 1;

/**
 * The entry for people: time, level and message; the account, the application and the reason; the error
 * and the remedy as sentences; then all other fields. Further lines of a text follow, indented, so that
 * no text can pass for another entry.
 */
export function prettyLine(entry: LogEntry, isColored: boolean): string {
  const { level, time, msg, error, ...others } = entry;
  const { message, reason, stack, ...detail } = isRecord(error) ? error : { message: error };
  const named = new Map(Object.entries({ reason, stack, ...others, error: message }));
  const { prose, lines } = proseOf(named);
  const rest = Object.entries({ ...others, error: detail }).filter(
    ([name, value]: FlatField) =>
      !firstFields.includes(name) &&
      !(proseNames.includes(name) && typeof value === 'string') &&
      !(isRecord(value) && isEmpty(value)),
  );
  const paint = (code: number, text: string): string =>
    isColored ? `\u001B[${code}m${text}\u001B[0m` : text;
  const groups = [
    [
      time,
      paint(colors.get(level) ?? bold, level.toUpperCase().padEnd(5)),
      paint(bold, escapeUnsafe(msg)),
    ].join(' '),
    logfmtPairs(firstFields.map((name) => [name, named.get(name)])),
    ...prose,
    logfmtPairs(flatFields(Object.fromEntries(rest))),
  ];
  return [groups.filter((group) => group !== '').join('  '), ...lines].join('\n');
}

/** Sentences on the line of the entry, and the further lines of those that have several. */
function proseOf(named: ReadonlyMap<string, unknown>) {
  const prose: string[] = [];
  const lines: string[] = [];
  for (const name of proseNames) {
    const text = named.get(name);
    if (typeof text !== 'string') continue;
    const isBlock = blockNames.has(name) && text.includes('\n');
    if (isBlock) lines.push(...text.split('\n').map((line) => `    ${escapeUnsafe(line)}`));
    else prose.push(`${name}: ${escapeUnsafe(text)}`);
  }
  return { prose, lines };
}

function logfmtPairs(fields: readonly FlatField[]): string {
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${escapeUnsafe(name)}=${prettyValue(value)}`)
    .join(' ');
}

/** Names are always in quotes, so that one sees where they end. Lists are JSON. */
function prettyValue(value: unknown): string {
  if (Array.isArray(value)) return escapeUnsafe(JSON.stringify(value));
  const text = logfmtValue(value);
  return typeof value === 'string' && /^[^"]*[,;:()[\]{}]/.test(text) ? quoted(value) : text;
}
