import { own } from '../model/own.ts';
import { escapeUnsafe, quoted } from '../model/shown-text.ts';
import { flatFields, isRecord, type LogEntry, logfmtValue } from './logfmt-line.ts';

export interface PrettyOptions {
  readonly isColored: boolean;
}

/** Whom a line is about and why, in this order: what somebody reads first. */
const firstNames = ['account', 'app_name', 'app_id', 'host_id', 'reason'];

/** Texts in whole sentences, in this order, without quotes. */
const proseNames = ['error', 'problem', 'remedy'];

/** Texts that may have several lines: one of our own, and one for those who debug. */
const blockNames: ReadonlySet<string> = new Set(['problem', 'stack']);

/** Colours of the levels, as ANSI escape codes. */
const colors: Readonly<Record<string, number>> = { debug: 34, info: 32, warn: 33, error: 31 };
const bold = 1;

/**
 * The entry for people: time, level and message; the account, the application and the reason; the error
 * and the remedy as sentences; then all other fields. Further lines of a text follow, indented, so that
 * no text can pass for another entry.
 */
export function prettyLine(entry: LogEntry, { isColored }: PrettyOptions): string {
  const { level, time, msg, ...fields } = entry;
  const paint = (code: number, text: string): string =>
    isColored ? `\u001B[${code}m${text}\u001B[0m` : text;
  const { lines, ...parts } = partsOf(fields);
  const head = [
    time,
    paint(own(colors, level) ?? bold, level.toUpperCase().padEnd(5)),
    paint(bold, escapeUnsafe(msg)),
  ].join(' ');
  const groups = [head, parts.first.join(' '), ...parts.prose, parts.rest.join(' ')];
  return [groups.filter((group) => group !== '').join('  '), ...lines].join('\n');
}

interface Parts {
  readonly first: readonly string[];
  readonly prose: readonly string[];
  readonly rest: readonly string[];
  /** What follows on lines of its own. */
  readonly lines: readonly string[];
}

function partsOf(fields: Readonly<Record<string, unknown>>): Parts {
  const { error, ...others } = fields;
  const { message, reason, stack, ...detail } = isRecord(error) ? error : { message: error };
  const texts: Readonly<Record<string, unknown>> = { ...others, error: message };
  const known: Readonly<Record<string, unknown>> = { reason, ...others };
  const isProse = (name: string): boolean =>
    proseNames.includes(name) && typeof own(texts, name) === 'string';
  const rest = Object.fromEntries(
    Object.entries({ ...others, error: detail }).filter(
      ([name, value]) =>
        !(firstNames.includes(name) || (name !== 'error' && isProse(name))) && !isEmpty(value),
    ),
  );
  const [prose, lines] = proseOf({ ...texts, stack });
  return {
    first: firstNames
      .filter((name) => own(known, name) !== undefined)
      .map((name) => `${name}=${prettyValue(own(known, name))}`),
    prose,
    rest: flatFields(rest).map(([name, value]) => `${escapeUnsafe(name)}=${prettyValue(value)}`),
    lines,
  };
}

/** Sentences on the line of the entry, and the further lines of those that have several. */
function proseOf(texts: Readonly<Record<string, unknown>>): readonly [string[], string[]] {
  const prose: string[] = [];
  const lines: string[] = [];
  for (const name of [...proseNames, 'stack']) {
    const text = own(texts, name);
    if (typeof text !== 'string') continue;
    const isBlock = blockNames.has(name) && text.includes('\n');
    if (isBlock) lines.push(...text.split('\n').map((line) => `    ${escapeUnsafe(line)}`));
    else prose.push(`${name}: ${escapeUnsafe(text)}`);
  }
  return [prose, lines];
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Names are always in quotes, so that one sees where they end. Lists are JSON. */
function prettyValue(value: unknown): string {
  if (Array.isArray(value)) return escapeUnsafe(JSON.stringify(value));
  const text = logfmtValue(value);
  return typeof value === 'string' && /^[^"]*[,;:()[\]{}]/.test(text) ? quoted(value) : text;
}
