import { digestOf } from '../../config/read-file.ts';
import { CommandError } from '../../daemon/platform.ts';
import { bareApplication } from '../../model/application.ts';
import { countText, printable } from '../../model/shown-text.ts';
import { minuteMs } from '../../model/time.ts';
import { discoveryOptionsOf, seeksAny } from '../../poll/discovery-state.ts';
import type { OpenAccount } from '../ask.ts';
import { sumOf } from '../make-plan.ts';
import { selectApplications } from '../selection.ts';
import { applicationChains, type Chain, queryChain } from './chains.ts';
import type { Gauges, Parts, Plan, PlannedApplication } from './parts.ts';
import { plannedEdge, rangeOf, type SampleRange, type Slice } from './slices.ts';

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

/** A slice of a chain, under the name of its file. */
export interface Task {
  readonly name: string;
  readonly chain: Chain;
  readonly slice: Slice;
}

/** What a plan takes. */
export interface Run {
  readonly tasks: readonly Task[];
  readonly gauges: Gauges;
  /** As far as is known now. */
  readonly series: number;
}

export function runOf(plan: Plan, range: SampleRange, accounts: readonly OpenAccount[]): Run {
  const chains = accounts.flatMap((account, index) => {
    const known = plan.accounts[index] ?? [];
    const all = known.map((one) => ({ ...bareApplication(one), hostCount: one.hostCount }));
    const { selected } = selectApplications(account.entries, all);
    return [
      ...applicationChains(account, selected, range),
      ...account.queries.map((query) => queryChain(account, query, range)),
    ];
  });
  const gauges = chains.flatMap((chain) => chain.gauges);
  const tasks = chains.flatMap((chain) =>
    chain.slices.map((slice) => ({ name: partName(chain, slice), chain, slice })),
  );
  const series = sumOf(chains.map((one) => one.series));
  return { tasks, gauges: new Map(gauges.map((one) => [one.name, one])), series };
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

/** Bytes of a sample in the output. */
const bytesPerSample = 200;

/** What is asked for, and what it takes. */
export function planText(
  { fromMs, toMs, stepMs, nowMs }: SampleRange,
  { tasks, series }: Run,
  parts: Parts,
): string {
  const left = tasks.filter(({ name }) => !parts.has(name));
  const minutes = sumOf(left.map(({ chain }) => 1 / chain.account.account.requestsPerMinute));
  const samples = sumOf(tasks.map(({ chain, slice }) => chain.series * slice.windows));
  const coarseMs = plannedEdge(nowMs);
  const done = tasks.length - left.length;
  return [
    `samples from ${timeText(fromMs)} to ${timeText(toMs)}, every ${stepMs / minuteMs}m`,
    ...(fromMs < coarseMs
      ? [`until ${timeText(coarseMs)} one an hour of applications: New Relic has no more`]
      : []),
    `calls: ${countText(tasks.length)}${done > 0 ? `, ${countText(done)} of them done` : ''}`,
    `minutes: ${countText(Math.ceil(minutes))} at least`,
    `at most about ${countText(series)} series, ${countText(samples)} samples, ${countText(Math.ceil((samples * bytesPerSample) / 1e6))} MB`,
    '',
  ].join('\n');
}
