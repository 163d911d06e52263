import type { Build } from '../../daemon/build.ts';
import type { AccountConfig, AccountInUse } from '../../model/config.ts';
import { regionOf } from '../../model/region.ts';
import { countOf } from '../../model/shown-text.ts';
import { calls } from './calls.ts';
import { judged, type Results, type Seen } from './fact.ts';
import { facts } from './facts.ts';

/** What became of the calls of an account. */
export interface VerifiedAccount {
  readonly account: AccountConfig;
  readonly results: Results;
  /** Calls that were sent. */
  readonly sent: number;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** What would be asked. */
export function planText(inUse: readonly AccountInUse[]): string {
  const accounts = inUse.map(({ account: { name, source } }) => {
    const hasId = source.accountId !== undefined;
    const { length } = calls.filter(({ api }) => api === 'rest' || hasId);
    return `account ${name}: ${countOf(length, 'call')} at most, one after the other, which read only\n`;
  });
  const rows = facts.map((fact) => {
    return [fact.id, fact.fact, fact.calls.map(({ name }) => name).join(', ')];
  });
  return `${accounts.join('')}\n${tableOf(['id', 'fact', 'calls'], rows)}`;
}

const head = `Made to be attached to a public issue. Accounts have stand-ins such as \`account-1\`; names and ids of accounts,
applications and hosts, keys and addresses are left out. Of what New Relic says, or what is between, there are status, class
and texts that the exporter knows, and numbers only where a fact needs them.
**Please read it before you send it.**
`;

/** How every report begins, of whatever version. */
export const reportTitle = '# What New Relic answers: newrelic-exporter ';

/** The report as Markdown, and in a sentence what it says. */
export function reportOf(
  accounts: readonly VerifiedAccount[],
  { version }: Build,
): { readonly text: string; readonly summary: string; readonly differs: boolean } {
  const sections = accounts.map((account, index) => sectionOf(account, index + 1));
  const counted = (verdict: Seen['verdict']): number =>
    sections.flatMap(({ verdicts }) => verdicts).filter((one) => one === verdict).length;
  const differing = counted('differs');
  const summary = `${counted('holds')} facts hold, ${differing} differ, ${counted('cannot tell')} cannot be told`;
  const texts = sections.map(({ text }) => text).join('');
  const text = `${reportTitle}${version}\n\n${head}\n${summary}.\n${texts}`;
  return { text, summary, differs: differing > 0 };
}

function sectionOf(
  { account: { source, baseUrl, apiKeyHeader }, results, sent }: VerifiedAccount,
  number: number,
): { readonly verdicts: readonly Seen['verdict'][]; readonly text: string } {
  const rows = facts.map((fact) => ({ ...fact, ...judged(fact, results) }));
  const cells = rows.map(({ verdict, fact, text, source: known, id }) => {
    return [verdict === 'differs' ? `**${verdict}**` : verdict, fact, text, known, id];
  });
  const differing = rows.filter(({ verdict }) => verdict === 'differs');
  const means = differing.map(({ id, differs }) => `- ${id}: ${differs}.\n`).join('');
  const asked = `\`source: ${source.kind}\`, ${regionOf(baseUrl) ?? 'another address'}, \`${apiKeyHeader}\`; ${sent} of ${calls.length} calls were made.`;
  const table = tableOf(['verdict', 'fact', 'seen', 'source', 'id'], cells);
  const text = `\n## account-${number}\n\n${asked}\n\n${table}${means === '' ? '' : `\n### What that means\n\n${means}`}`;
  return { verdicts: rows.map(({ verdict }) => verdict), text };
}
