import type { Query } from '../../model/config.ts';
import { isReadOf } from '../../model/polled-series.ts';
import {
  expectedHosts,
  isWorthPolling,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import { discoveryOptionsOf } from '../../poll/discovery-state.ts';
import { type CallPlan, type CallPlanInput, planCalls, vendorFacts } from './call-plan.ts';
import type { DiscoveredAccount } from './discovered-account.ts';

/** What New Relic was asked of an account, or what was assumed instead. */
interface Asked {
  /** Entries that match nothing, as written. */
  readonly missing: readonly string[];
  /** Further ids that were not found in a list of several, and have not been asked for alone. */
  readonly pending: number;
  /** Applications that entries exclude. */
  readonly excluded: number;
  /** `undefined` when New Relic was asked. */
  readonly supposed: Assumptions | undefined;
  /** How many calls the metrics of an entry take, in words, as far as New Relic was asked. */
  readonly metricCalls: string | undefined;
}

/** What a plan without New Relic assumes. */
export interface Assumptions {
  readonly applicationsPerMatch: number;
  readonly hostsPerApplication: number;
}

export interface PlannedAccount extends CallPlan, Asked {
  /** New Relic data, if New Relic has every value. */
  readonly series: number;
  readonly together: Together;
}

/** The calls of several processes with the same configuration and the same key. */
export interface Together {
  readonly replicas: number;
  readonly callsPerMinute: number;
  /** Calls until each has polled everything once. */
  readonly startCalls: number;
  readonly fits: boolean;
  /** How many processes would fit. */
  readonly mostReplicas: number;
}

export interface Plan {
  readonly fits: boolean;
  readonly accounts: readonly PlannedAccount[];
  /** Series of New Relic data and of the exporter itself, all accounts together. */
  readonly series: number;
  readonly ownSeries: number;
  /** About how much memory the process will take. */
  readonly memoryBytes: number;
  /** The peak at the start. */
  readonly startMemoryBytes: number;
  /** Accounts that could not be discovered, with the reason. */
  readonly failures: readonly { readonly account: string; readonly reason: string }[];
}

/** An account that was discovered, or assumed. */
export interface ToPlan {
  readonly input: CallPlanInput;
  readonly asked: Asked;
  /** Why the account could not be discovered. */
  readonly failure: string | undefined;
}

/** What a discovery has found, to plan the calls with. */
export function planInputOf(
  { open, discovery, answers }: DiscoveredAccount,
  applications: readonly SelectedApplication[],
): CallPlanInput {
  return {
    account: open.account,
    applications,
    queries: answers.map(({ query, outcome: { reading } }) => ({
      ...query,
      mostRows: reading?.rows ?? query.mostRows,
    })),
    cost: (subjects) => open.source.cost(subjects),
    discovery: { calls: discovery.calls, intervalMs: discoveryOptionsOf(open.entries).intervalMs },
  };
}

/** Resident memory, measured on the running daemon; see docs/commands.md. */
const idleBytes = 100e6;
/** An application or a host, and each of its series. */
const bytesPerSubject = 2000;
const bytesPerSeries = 1000;
const startBytes = 140e6;

/** The exporter's own series: of the process, between those of Node.js 20 and 24, and of each account. */
const ownPerProcess = 68;
const ownPerAccount = 193;

/** Adds the series and the memory of the process, and the calls of all replicas. */
export function completed(all: readonly ToPlan[], replicas: number): Plan {
  const failures = all.flatMap(({ input: { account }, failure }) =>
    failure === undefined ? [] : [{ account: account.name, reason: failure }],
  );
  const good = all.filter(({ failure }) => failure === undefined);
  const accounts = good.map(({ input, asked }) => {
    const calls = planCalls(input);
    return { ...calls, ...asked, series: seriesOf(input), together: togetherOf(calls, replicas) };
  });
  const series = sumOf(accounts.map((account) => account.series));
  // Applications, and the hosts that are polled.
  const applications = good.flatMap(({ input }) => input.applications);
  const subjects = sumOf(applications.map((one) => 1 + expectedHosts(one)));
  const memoryBytes = idleBytes + subjects * bytesPerSubject + series * bytesPerSeries;
  return {
    fits:
      failures.length === 0 &&
      accounts.every(({ fits, together }) => fits && (replicas === 1 || together.fits)),
    accounts,
    series,
    ownSeries: ownPerProcess + sumOf(accounts.map(({ missing }) => ownPerAccount + missing.length)),
    memoryBytes,
    startMemoryBytes: Math.max(startBytes, memoryBytes),
    failures,
  };
}

/** The calls of several processes, each with this plan. */
export function togetherOf(
  { sentPerMinute, startCalls, vendor: { limitPerMinute } }: CallPlan,
  replicas: number,
): Together {
  const callsPerMinute = replicas * sentPerMinute;
  return {
    replicas,
    callsPerMinute,
    startCalls: replicas * startCalls,
    fits: callsPerMinute <= limitPerMinute,
    mostReplicas: Math.floor(limitPerMinute / sentPerMinute),
  };
}

function seriesOf({ account, applications, queries }: CallPlanInput): number {
  const { seriesPerApplication } = vendorFacts[account.source.kind];
  const ofApplications = applications.map((one) => seriesOfApplication(one, seriesPerApplication));
  // One is `newrelic_up`.
  return 1 + sumOf(ofApplications) + sumOf(queries.map(seriesOfQuery));
}

/** The series of an application and its hosts, if every answer has every value. */
function seriesOfApplication(selected: SelectedApplication, factsEach: number): number {
  const { application, series } = selected.entry;
  const facts = application ? factsEach : 0;
  if (!isWorthPolling(selected)) return facts;
  const countFor = (scope: 'applications' | 'hosts'): number =>
    series.filter((one) => isReadOf(scope, one)).length;
  // The end of the window belongs to the values.
  const values = application ? 1 + countFor('applications') : 0;
  return facts + values + expectedHosts(selected) * countFor('hosts');
}

/** Beside its own, whether it succeeds, when it last did, and how many rows it had. */
const factsPerQuery = 3;

/** The series of a query, if it has as many rows as it may, and each has every value. */
export function seriesOfQuery({ gauges, mostRows, maxSeries }: Query): number {
  const perRow = sumOf(gauges.map(({ percentages }) => Math.max(1, percentages.length)));
  return factsPerQuery + Math.min(maxSeries, mostRows * perRow);
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
