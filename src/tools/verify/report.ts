import type { Build } from '../../daemon/build.ts';
import type { AccountConfig, AccountInUse } from '../../model/config.ts';
import { regionOf } from '../../model/region.ts';
import { countOf } from '../../model/shown-text.ts';
import { entityIdOf } from '../../newrelic/answer.ts';
import {
  type Asked,
  type Call,
  type Fact,
  judged,
  listAt,
  partOf,
  type Results,
  rowsOf,
  type Seen,
} from './fact.ts';

/** What became of the calls of an account. */
export interface VerifiedAccount {
  readonly account: AccountConfig;
  readonly asked: Asked;
  readonly results: Results;
  /** That were sent. */
  readonly calls: number;
}

/** All calls of these facts, each once. */
export function callsOf(facts: readonly Fact[]): readonly Call[] {
  return [...new Set(facts.flatMap(({ check }) => check?.calls ?? []))];
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** What would be asked. */
export function planText(facts: readonly Fact[], inUse: readonly AccountInUse[]): string {
  const accounts = inUse.map(({ account: { name, source } }) => {
    const able = callsOf(facts).filter(
      ({ api }) => api === 'rest' || source.accountId !== undefined,
    );
    return `account ${name}: ${countOf(able.length, 'call')} at most, one after the other, which read only\n`;
  });
  const rows = facts.map(({ id, fact, check }) => {
    const calls = check?.calls.map(({ name }) => name) ?? [];
    return [id, fact, calls.join(', ')];
  });
  return `${accounts.join('')}\n${tableOf(['id', 'fact', 'calls'], rows)}`;
}

const head = `Made to be attached to a public issue. Names and ids of accounts, applications and hosts are replaced by stand-ins
such as \`application-1\`; keys and addresses are left out, and numbers are kept only where a fact needs them.
**Please read it before you send it.**
`;

/** The report as Markdown, and in a sentence what it says. */
export function reportOf(
  facts: readonly Fact[],
  accounts: readonly VerifiedAccount[],
  { version }: Build,
): { readonly text: string; readonly summary: string; readonly differs: boolean } {
  const all = accounts.map((one) => ({
    one,
    rows: facts.flatMap((fact) =>
      fact.check ? [{ fact, seen: judged(fact.check, one.results, one.asked) }] : [],
    ),
  }));
  const counted = (verdict: Seen['verdict']): number =>
    all.flatMap(({ rows }) => rows).filter(({ seen }) => seen.verdict === verdict).length;
  const differing = counted('differs');
  const summary = `${counted('holds')} facts hold, ${differing} differ, ${counted('cannot tell')} cannot be told`;
  const sections = all.map(({ one: { account, results, calls }, rows }, index) => {
    const standIns = standInsOf(results);
    const planned = callsOf(facts).length;
    const region = regionOf(account.baseUrl) ?? 'another address';
    const asked = `\`source: ${account.source.kind}\`, ${region}, \`${account.apiKeyHeader}\`; ${calls} of ${planned} calls were made.`;
    const table = tableOf(
      ['verdict', 'fact', 'seen', 'source', 'id'],
      rows.map(({ fact: { id, fact, source }, seen: { verdict, text } }) => {
        const shown = replaced(text, standIns);
        return [verdict === 'differs' ? `**${verdict}**` : verdict, fact, shown, source, id];
      }),
    );
    const consequences = rows
      .filter(({ seen }) => seen.verdict === 'differs')
      .map(({ fact: { id, differs } }) => `- ${id}: ${differs}.\n`);
    const means =
      consequences.length === 0 ? '' : `\n### What that means\n\n${consequences.join('')}`;
    return `\n## account-${index + 1}\n\n${asked}\n\n${table}${means}`;
  });
  const text = `# What New Relic answers: newrelic-exporter ${version}\n\n${head}\n${summary}.\n${sections.join('')}`;
  return { text, summary, differs: differing > 0 };
}

/** What names somebody's systems in the answers, each with its stand-in. */
function standInsOf(results: Results): ReadonlyMap<string, string> {
  const standIns = new Map<string, string>();
  const add = (kind: string, ...names: readonly unknown[]): void => {
    const known = names.map((name) => standIns.get(String(name))).find((one) => one !== undefined);
    const count = new Set([...standIns.values()].filter((one) => one.startsWith(kind))).size;
    const standIn = known ?? `${kind}-${count + 1}`;
    for (const name of names.map((one) => String(one ?? '')))
      if (name !== '') standIns.set(name, standIn);
  };
  for (const result of results.values()) {
    if (typeof result === 'string') continue;
    const { document } = result;
    for (const { id, name } of listAt(document, 'applications')) add('application', id, name);
    for (const { applicationId, name, guid } of listAt(partOf(result), 'results', 'entities')) {
      add('application', entityIdOf(applicationId), name, guid);
    }
    for (const { id, host } of listAt(document, 'application_hosts')) add('host', host, id);
    for (const { host } of rowsOf(result)) if (host !== undefined) add('host', host);
    for (const { id, name } of listAt(document, 'data', 'actor', 'accounts'))
      add('account', id, name);
  }
  return standIns;
}

/** Longer names first: others may be parts of them. */
function replaced(text: string, standIns: ReadonlyMap<string, string>): string {
  const names = [...standIns.keys()].toSorted((one, other) => other.length - one.length);
  return names.reduce((all, name) => all.replaceAll(name, standIns.get(name) ?? ''), text);
}
