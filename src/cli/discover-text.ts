import { aligned } from './aligned.ts';
import type { OutputFormat } from './flags.ts';

/** An application that an account has; `undefined` is what the vendor does not say. */
export interface ListedApplication {
  readonly account: string;
  readonly id: string;
  readonly name: string;
  readonly language: string | undefined;
  readonly reporting: boolean | undefined;
  readonly hosts: number | undefined;
}

const unknown = '-';

/** As a table, as JSON, or as YAML that can be pasted into the configuration. Sorted by name. */
export function listText(applications: readonly ListedApplication[], format: OutputFormat): string {
  const sorted = applications.toSorted(
    (left, right) => compare(left.account, right.account) || compare(left.name, right.name),
  );
  switch (format) {
    case 'json':
      return `${JSON.stringify(sorted, undefined, 2)}\n`;
    case 'yaml':
      return yamlOf(sorted);
    case 'text':
      return tableOf(sorted);
  }
}

function tableOf(applications: readonly ListedApplication[]): string {
  const rows = applications.map(({ account, id, name, language, reporting, hosts }) => [
    account,
    id,
    language ?? unknown,
    reportingText(reporting),
    `${hosts ?? unknown}`,
    printable(name),
  ]);
  const header = ['account', 'id', 'language', 'reporting', 'hosts', 'name'];
  const lines = aligned([header, ...rows], ['left', 'right', 'left', 'left', 'right']);
  return `${lines.join('\n')}\n`;
}

function yamlOf(applications: readonly ListedApplication[]): string {
  if (applications.length === 0) return 'apps: []\n';
  const isShared = new Set(applications.map(({ account }) => account)).size > 1;
  const entries = applications.flatMap(({ account, id, name, reporting }) => [
    `  - id: ${id} # ${printable(name)}${reporting === false ? ', not reporting' : ''}`,
    ...(isShared ? [`    account: ${JSON.stringify(account)}`] : []),
  ]);
  return `${['apps:', ...entries].join('\n')}\n`;
}

function reportingText(reporting: boolean | undefined): string {
  if (reporting === undefined) return unknown;
  return reporting ? 'yes' : 'no';
}

/** A name may hold anything; on a terminal or in a comment a line must stay one line. */
function printable(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
