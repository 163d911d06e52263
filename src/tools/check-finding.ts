import { type Place, renderExcerpt } from '../config/diagnostic.ts';
import { printable } from '../model/line-text.ts';

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
  /** Each query, once. */
  'query',
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

/** As wide as the longest of them. */
const severityWidth = 'warning'.length;

/** Findings for people: numbered lines, each with its place and its remedy below it. */
export function findingsText(findings: readonly Finding[]): string {
  const digits = String(findings.length).length;
  return findings
    .flatMap((finding, index) => {
      const head = `${String(index + 1).padStart(digits)} ${finding.severity.padEnd(severityWidth)} `;
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
