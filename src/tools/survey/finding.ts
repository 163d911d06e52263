import { type Place, renderExcerpt } from '../../config/diagnostic.ts';
import type { InspectedConfig } from '../../config/load-config.ts';
import type { AppEntry, Config } from '../../model/config.ts';
import type { Problem } from '../../model/problem.ts';
import { printable } from '../../model/shown-text.ts';

/** `error`: something must be corrected. `warning`: probably. `note`: it may be of interest. */
export type Severity = 'ok' | 'note' | 'warning' | 'error';

/** The configuration, and the file that it comes from. */
export interface CheckedConfig {
  readonly config: Config;
  readonly file: InspectedConfig;
  /** Entries of which it is told that others select what they select. */
  readonly shared?: readonly AppEntry[];
}

/** One result of a check. No text holds a secret. */
export interface Finding {
  readonly severity: Severity;
  readonly account?: string | undefined;
  readonly message: string;
  /** What to do about it. It may have several lines. */
  readonly remedy?: string | undefined;
  readonly place?: Place | undefined;
}

/** A problem in the words of the daemon. */
export function findingOf({ tone, text, reason, remedy, subject = {}, log }: Problem): Finding {
  const { app_id: id, query, accounts } = subject;
  const ofQuery = query === undefined ? undefined : `query ${query}: `;
  const ofLists = reason === undefined && accounts === undefined ? '' : `${log[0]}: `;
  const about = id === undefined ? (ofQuery ?? ofLists) : `application ${id}: `;
  const severity = tone === 'red' ? 'error' : 'warning';
  return { severity, message: printable(about + text), remedy };
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

function linesOf({ severity, account, message, remedy, place }: Finding): readonly string[] {
  const subject = account === undefined ? '' : `account ${account}: `;
  const where = place === undefined ? '' : `${placeText(place)}: `;
  return [
    `${where}${subject}${message}`,
    // What is right need not be pointed at.
    ...(place === undefined || severity === 'ok' ? [] : renderExcerpt(place)),
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
