import { type Place, renderExcerpt } from '../config/diagnostic.ts';
import type { Output } from '../daemon/platform.ts';
import { printable } from '../model/line-text.ts';
import { isColorWanted } from '../telemetry/colors.ts';

/** What a finding is about: a closed set, the same words in the JSON. */
export const checks = [
  /** The text of the configuration file. */
  'file',
  /** API keys, and the files and variables that hold them. */
  'key',
  /** The list of applications of an account. */
  'discovery',
  'account_id',
  /** The end of the REST API v2. */
  'source',
  'entry',
  /** Hosts of entries with `hosts: self`. */
  'host',
  /** One call for values. */
  'values',
  /** The calls that are needed, and the budget. */
  'budget',
] as const;
export type Check = (typeof checks)[number];

/** `error`: something must be corrected. `warning`: probably. `note`: it may be of interest. */
export type Severity = 'ok' | 'note' | 'warning' | 'error';

/** One result of a check. No text holds a secret. */
export interface Finding {
  readonly check: Check;
  readonly severity: Severity;
  readonly account: string | undefined;
  readonly message: string;
  /** What to do about it. It may have several lines. */
  readonly remedy: string | undefined;
  readonly place: Place | undefined;
}

export function findingOf(
  check: Check,
  severity: Severity,
  message: string,
  rest: Partial<Omit<Finding, 'check' | 'severity' | 'message'>> = {},
): Finding {
  return {
    account: undefined,
    remedy: undefined,
    place: undefined,
    ...rest,
    check,
    severity,
    message,
  };
}

/** How findings are marked. */
type Marks = Readonly<Record<Severity, string>>;

const words: Marks = { ok: 'ok     ', note: 'note   ', warning: 'warning', error: 'error  ' };
const symbols: Marks = { ok: '✔', note: '·', warning: '!', error: '✖' };

/** Green, blue, yellow, red. */
const colours: Readonly<Record<Severity, number>> = { ok: 32, note: 34, warning: 33, error: 31 };

/** Symbols on a terminal that can show them, words elsewhere; in colour where colours are wanted. */
export function marksFor(
  stream: Pick<Output, 'isTTY'>,
  env: Readonly<Record<string, string | undefined>>,
): Marks {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => (one ?? '') !== '');
  const marks = stream.isTTY === true && /utf-?8/iu.test(locale ?? '') ? symbols : words;
  if (!isColorWanted(stream, env)) return marks;
  const coloured = (severity: Severity): string =>
    `\u001B[${colours[severity]}m${marks[severity]}\u001B[39m`;
  return {
    ok: coloured('ok'),
    note: coloured('note'),
    warning: coloured('warning'),
    error: coloured('error'),
  };
}

/** Findings for people: numbered lines, each with its place and its remedy below it. */
export function findingsText(findings: readonly Finding[], marks: Marks): string {
  const digits = String(findings.length).length;
  return findings
    .flatMap((finding, index) => {
      const head = `${String(index + 1).padStart(digits)} ${marks[finding.severity]} `;
      const [first = '', ...below] = linesOf(finding);
      const indent = ' '.repeat(digits + 1);
      return [head + first, ...below.map((line) => indent + line)].map((line) => `${line}\n`);
    })
    .join('');
}

function linesOf({ account, message, remedy, place }: Finding): readonly string[] {
  const subject = account === undefined ? '' : `account ${account}: `;
  const where = place === undefined ? '' : `${placeText(place)}: `;
  return [
    `${where}${subject}${message}`,
    ...(place === undefined ? [] : renderExcerpt(place)),
    ...(remedy === undefined
      ? []
      : remedy
          .split('\n')
          .map((line, index) => (index === 0 ? `  = help: ${line}` : `    ${line}`))),
  ];
}

function placeText({ fileName, line, column }: Place): string {
  return printable(line === 0 ? fileName : `${fileName}:${line}:${column}`);
}

/** A finding as it is in the JSON. */
export function findingDocument(finding: Finding): Readonly<Record<string, unknown>> {
  const { check, severity, account, message, remedy, place } = finding;
  const isPlaced = place !== undefined && place.line > 0;
  return {
    check,
    severity,
    account: account ?? null,
    file: place?.fileName ?? null,
    line: isPlaced ? place.line : null,
    column: isPlaced ? place.column : null,
    message,
    remedy: remedy ?? null,
  };
}
