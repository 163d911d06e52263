import type { Build } from '../../daemon/build.ts';
import type { AccountConfig, AccountInUse } from '../../model/config.ts';
import { regionOf } from '../../model/region.ts';
import { countOf } from '../../model/shown-text.ts';
import { excerptOf } from '../../newrelic/answer.ts';
import { type Call, type Fact, judged, type Results, type Seen } from './fact.ts';

/** What became of the calls of an account. */
export interface VerifiedAccount {
  readonly account: AccountConfig;
  readonly results: Results;
  /** Calls that were sent. */
  readonly sent: number;
}

/** What tells what to ask about. */
export const listCalls: readonly string[] = ['applications', 'entities'];

/** The calls of these facts, each once, and the lists first. */
export function callsFor(facts: readonly Fact[]): readonly Call[] {
  const calls = new Set(facts.flatMap(({ check }) => check?.calls ?? []));
  const lists = [...calls].filter(({ name }) => listCalls.includes(name));
  return [...new Set([...lists, ...calls])];
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** What would be asked. */
export function planText(facts: readonly Fact[], inUse: readonly AccountInUse[]): string {
  const accounts = inUse.map(({ account: { name, source } }) => {
    const hasId = source.accountId !== undefined;
    const { length } = callsFor(facts).filter(({ api }) => api === 'rest' || hasId);
    return `account ${name}: ${countOf(length, 'call')} at most, one after the other, which read only\n`;
  });
  const rows = facts.map(({ id, fact, check }) => {
    return [id, fact, check?.calls.map(({ name }) => name).join(', ') ?? ''];
  });
  return `${accounts.join('')}\n${tableOf(['id', 'fact', 'calls'], rows)}`;
}

const head = `Made to be attached to a public issue. Names of accounts, applications and hosts are replaced by stand-ins such as
\`application-1\`; ids, keys, addresses and quoted texts are left out, and numbers are kept only where a fact needs them.
**Please read it before you send it.**
`;

/** How every report begins, of whatever version. */
export const reportTitle = '# What New Relic answers: newrelic-exporter ';

/** The report as Markdown, and in a sentence what it says. */
export function reportOf(
  facts: readonly Fact[],
  accounts: readonly VerifiedAccount[],
  { version }: Build,
): { readonly text: string; readonly summary: string; readonly differs: boolean } {
  const sections = accounts.map((account, index) => sectionOf(facts, account, index + 1));
  const counted = (verdict: Seen['verdict']): number =>
    sections.flatMap(({ verdicts }) => verdicts).filter((one) => one === verdict).length;
  const differing = counted('differs');
  const summary = `${counted('holds')} facts hold, ${differing} differ, ${counted('cannot tell')} cannot be told`;
  const texts = sections.map(({ text }) => text).join('');
  const text = `${reportTitle}${version}\n\n${head}\n${summary}.\n${texts}`;
  return { text, summary, differs: differing > 0 };
}

function sectionOf(
  facts: readonly Fact[],
  { account: { source, baseUrl, apiKeyHeader }, results, sent }: VerifiedAccount,
  number: number,
): { readonly verdicts: readonly Seen['verdict'][]; readonly text: string } {
  const standIns = standInsOf(results);
  const rows = facts.flatMap((fact) =>
    fact.check ? [{ ...fact, ...judged(fact.check, results) }] : [],
  );
  const cells = rows.map(({ verdict, fact, text, said, source: known, id }) => {
    const shown = said === '' ? text : `${text}: ${anonymous(said, standIns)}`;
    return [verdict === 'differs' ? `**${verdict}**` : verdict, fact, shown, known, id];
  });
  const differing = rows.filter(({ verdict }) => verdict === 'differs');
  const means = differing.map(({ id, differs }) => `- ${id}: ${differs}.\n`).join('');
  const asked = `\`source: ${source.kind}\`, ${regionOf(baseUrl) ?? 'another address'}, \`${apiKeyHeader}\`; ${sent} of ${callsFor(facts).length} calls were made.`;
  const table = tableOf(['verdict', 'fact', 'seen', 'source', 'id'], cells);
  const text = `\n## account-${number}\n\n${asked}\n\n${table}${means === '' ? '' : `\n### What that means\n\n${means}`}`;
  return { verdicts: rows.map(({ verdict }) => verdict), text };
}

/** Longer texts would take long. */
const mostSaid = 2000;
/** Texts in quotes, addresses, numbers of more than three digits, and what separates the cells of a table. */
const telling = /'[^']*'|"[^"]*"|`[^`]*`|\S*(?:@|:\/\/)\S*|\d{4,}|\|/gu;

/** What New Relic says without anything that names somebody's systems, as far as that can be known. */
function anonymous(said: string, standIns: ReadonlyMap<string, string>): string {
  if (said.length > mostSaid) return '…';
  // Longer names first: others may be parts of them.
  const names = [...standIns.keys()].toSorted((one, other) => other.length - one.length);
  const patterns = names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`));
  const name = new RegExp(patterns.join('|') || '$^', 'giu');
  const named = said.replaceAll(name, (found) => standIns.get(found.toLowerCase()) ?? '…');
  return excerptOf(named.replaceAll(telling, '…'));
}

/** The names in the answers, in lower case, each with its stand-in. */
function standInsOf(results: Results): ReadonlyMap<string, string> {
  const standIns = new Map<string, string>();
  for (const [call, result] of results) {
    for (const { name, host, timeslices } of typeof result === 'string' ? [] : result.items) {
      // Those of metrics are New Relic's.
      const text = timeslices === undefined ? (host ?? name) : '';
      if (typeof text !== 'string' || text === '' || standIns.has(text.toLowerCase())) continue;
      const kind = text === host ? 'host' : call === 'accounts' ? 'account' : 'application';
      standIns.set(text.toLowerCase(), `${kind}-${standIns.size + 1}`);
    }
  }
  return standIns;
}
