import { digestOf } from '../../config/read-file.ts';
import { CommandError } from '../../daemon/platform.ts';
import { bareApplication } from '../../model/application.ts';
import type { Query } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { discoveryOptionsOf, seeksAny } from '../../poll/discovery-state.ts';
import { askNrql, type OpenAccount } from '../survey/ask.ts';
import { selectApplications } from '../survey/selection.ts';
import { applicationChains, type Chain, queryChain } from './chains.ts';
import type { Plan, PlannedApplication, Shown } from './parts.ts';
import { rangeOf, type SampleRange, type Slice } from './slices.ts';

/** Such as 2026-11-01T00:00:00Z. */
export function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('.000Z', 'Z');
}

/** What the entries select now, or what is wanted of it: past values get the names, tags and labels of today. */
export async function discovered(
  wanted: readonly string[],
  accounts: readonly OpenAccount[],
): Promise<Plan['accounts']> {
  const selections = await Promise.all(accounts.map(async (one) => selectedIn(one, wanted)));
  const names = new Set(selections.flat().flatMap(({ id, name }) => [id, name]));
  const unknown = wanted.find((one) => !names.has(one));
  if (unknown === undefined) return selections;
  const help = 'write the id or the exact name of one that "apps" selects';
  throw new CommandError(2, `--app=${printable(unknown)}: there is no such application: ${help}`);
}

async function selectedIn(
  account: OpenAccount,
  wanted: readonly string[],
): Promise<readonly PlannedApplication[]> {
  const { entries } = account;
  if (!seeksAny(entries)) return [];
  const { complete, error, applications } = await account.discover(discoveryOptionsOf(entries));
  if (!complete) throw error ?? new CommandError(1, 'the list of applications is not complete');
  return selectApplications(entries, applications)
    .selected.map(({ application }) => application)
    .filter(({ id, name }) => wanted.length === 0 || wanted.includes(id) || wanted.includes(name));
}

/** How many rows each query of an account has, as `rowsOf` says. */
export async function rowsIn(account: OpenAccount, range: SampleRange): Promise<readonly number[]> {
  return Promise.all(account.queries.map(async (query) => rowsOf(account, query, range)));
}

/** Of a query that may have more rows than its LIMIT, so many times more than its newest slice has at most. */
const mostGrowth = 20;

/**
 * How many rows a query has, all windows together. Where that is LIMIT or more, it goes by the newest slice: one that
 * has more is divided when it is asked. If New Relic does not answer now, it is taken for few.
 */
async function rowsOf(account: OpenAccount, query: Query, range: SampleRange): Promise<number> {
  const { mostRows: most, facets } = query;
  const purpose = { operation: 'query', accountId: account.account.source.accountId } as const;
  const { slices, nrqlOf } = queryChain(account, query, range, 1);
  const [newest, whole] = [slices.at(-1), slices[0]].map((one) => one && rangeOf(one));
  if (facets.length === 0 || whole === undefined || newest === undefined) return 1;
  for (const [{ fromMs }, least] of [[whole, 1] as const, [newest, most / mostGrowth] as const]) {
    const rows = await askNrql(account, purpose, nrqlOf({ ...newest, fromMs }), ({ results }) =>
      Array.isArray(results) ? results.length : most,
    ).catch(() => 1);
    if (rows < most) return Math.max(rows, least);
  }
  return most;
}

/** A slice of a chain, under the name of its file. */
export interface Task {
  readonly name: string;
  readonly chain: Chain;
  readonly slice: Slice;
}

/** What a plan takes. */
export interface Run extends Pick<Shown, 'gauges'> {
  readonly chains: readonly Chain[];
  readonly tasks: readonly Task[];
}

export function runOf(plan: Plan, range: SampleRange, accounts: readonly OpenAccount[]): Run {
  const chains = accounts.flatMap((account, index) => {
    const known = plan.accounts[index] ?? [];
    const all = known.map((one) => ({ ...bareApplication(one), hostCount: one.hostCount }));
    const { selected } = selectApplications(account.entries, all);
    const rows = plan.rows[index] ?? [];
    return [
      ...applicationChains(account, selected, range),
      ...account.queries.map((query, at) => queryChain(account, query, range, rows[at] ?? 1)),
    ];
  });
  const gauges = chains.flatMap((chain) => chain.gauges);
  const tasks = chains.flatMap((chain) =>
    chain.slices.map((slice) => ({ name: partName(chain, slice), chain, slice })),
  );
  return { chains, tasks, gauges: new Map(gauges.map((one) => [one.name, one])) };
}

/** The name of a file that has a slice: whatever its place in a plan is, of the same query it is the same. */
function partName({ account: { account }, nrqlOf, gauges }: Chain, slice: Slice): string {
  const { name, baseUrl, source } = account;
  const { windows, lengthMs, stepMs, endMs, timeOf } = slice;
  const names = gauges.map((one) => one.name);
  const asked = [name, baseUrl, source.accountId, nrqlOf(rangeOf(slice)), names];
  const times = [windows, lengthMs, stepMs, timeOf(endMs)];
  return `${digestOf(Buffer.from(JSON.stringify([...asked, ...times]))).slice(0, 32)}.part`;
}
