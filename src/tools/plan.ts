import { loadForCommand, renderWarnings } from '../cli/command-config.ts';
import type { Flags } from '../cli/flag-table.ts';
import type { Outcome } from '../cli/one-shot.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import type { Config, Query } from '../model/config.ts';
import { isReadOf } from '../model/polled-series.ts';
import {
  expectedHosts,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import { discoverAccounts } from './account-discovery.ts';
import {
  type AccountDraft,
  draftsOfDiscovered,
  draftsOfSupposed,
  type Plan,
  type PlannedAccount,
  togetherOf,
} from './make-plan.ts';
import { planText } from './plan-text.ts';

/**
 * Prints what polling the configured applications will cost: under assumptions, or with `--online`
 * according to one discovery. Ends with 1 if an account does not fit its budget, or could not be
 * discovered.
 */
export async function plan(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { config, warnings } = await loadForCommand(flags.configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  const result = completed(await draftsOf(config, flags, platform), flags.replicas);
  for (const { account, reason } of result.failures) {
    platform.stderr.write(`account ${account}: discovery failed: ${reason}\n`);
  }
  const output = flags.output === 'json' ? planJson(result) : planText(result);
  return { exitCode: result.fits ? 0 : 1, output };
}

interface Drafts extends Pick<Plan, 'failures'> {
  readonly drafts: readonly AccountDraft[];
}

async function draftsOf(config: Config, flags: Flags, platform: ToolPlatform): Promise<Drafts> {
  if (!flags.online) {
    const assumptions = {
      applicationsPerMatch: flags.planApplicationsPerMatch,
      hostsPerApplication: flags.planHostsPerApplication,
    };
    return { drafts: draftsOfSupposed(config, assumptions), failures: [] };
  }
  const discovered = await discoverAccounts(config, platform, 'plan');
  const failures = discovered.flatMap(({ account, failure }) =>
    failure === undefined ? [] : [{ account: account.name, reason: failure }],
  );
  return { drafts: draftsOfDiscovered(discovered), failures };
}

/** Resident memory, measured on the running daemon; see docs/commands.md. */
const idleBytes = 100e6;
/** An application or a host, and each of its series. */
const bytesPerSubject = 2000;
const bytesPerSeries = 1000;
const startBytes = 140e6;

/** Facts, summary, health and polls of an application, if New Relic has every value of them. */
const factsPerApplication = { rest: 17, nerdgraph: 15 };
/** The exporter's own series: of the process, between those of Node.js 20 and 24, and of each account. */
const ownPerProcess = 68;
const ownPerAccount = 193;

/** Adds the series and the memory of the process, and the calls of all replicas. */
function completed({ drafts, failures }: Drafts, replicas: number): Plan {
  const accounts = drafts.map(({ source, calls, applications, queries, ...draft }) => ({
    ...calls,
    ...draft,
    // One is `newrelic_up`.
    series:
      1 +
      sumOf(applications.map((one) => seriesOf(one, factsPerApplication[source]))) +
      sumOf(queries.map(seriesOfQuery)),
    together: togetherOf({ source, calls }, replicas),
  }));
  const series = sumOf(accounts.map((account) => account.series));
  const subjects = sumOf(drafts.map(({ applications }) => subjectsOf(applications)));
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

/** The series of an application and its hosts, if every answer has every value. */
function seriesOf(selected: SelectedApplication, factsEach: number): number {
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

/** Applications, and the hosts that are polled. */
function subjectsOf(applications: readonly SelectedApplication[]): number {
  return sumOf(applications.map((one) => 1 + expectedHosts(one)));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

/** A plan for machines. Times are in seconds, calls in calls a minute. */
export function planJson(planned: Plan): string {
  const document = {
    fits: planned.fits,
    accounts: planned.accounts.map(accountDocument),
    series: planned.series,
    own_series: planned.ownSeries,
    memory_bytes: planned.memoryBytes,
    start_memory_bytes: planned.startMemoryBytes,
    failures: planned.failures,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function accountDocument(account: PlannedAccount): Readonly<Record<string, unknown>> {
  const { remedy, supposed, together } = account;
  return {
    account: account.account,
    fits: account.fits,
    applications: account.applications,
    silent_applications: account.silentApplications,
    queries: account.queries,
    hosts: account.hosts,
    excluded: account.excluded,
    missing: account.missing,
    pending: account.pending,
    budget_per_minute: account.budgetPerMinute,
    capacity_per_minute: account.capacityPerMinute,
    demand_per_minute: { ...account.demand, total: account.demandPerMinute },
    sent_per_minute: { ...account.sent, total: account.sentPerMinute },
    stretch: account.stretch,
    intervals: account.intervals.map(({ configuredMs, effectiveMs, polled }) => ({
      configured_seconds: configuredMs / 1000,
      effective_seconds: effectiveMs / 1000,
      polled,
    })),
    to_fit:
      remedy === undefined
        ? null
        : {
            requests_per_minute: remedy.budgetPerMinute ?? null,
            concurrency: remedy.concurrency ?? null,
            interval_factor: remedy.intervalFactor ?? null,
          },
    host_name_calls: account.firstPollCalls,
    first_full_set_seconds: account.firstFullSetMs / 1000,
    series: account.series,
    start_calls: account.startCalls,
    together: {
      replicas: together.replicas,
      calls_per_minute: together.callsPerMinute,
      start_calls: together.startCalls,
      limit_per_minute: together.limitPerMinute,
      fits: together.fits,
      most_replicas: together.mostReplicas,
    },
    supposed:
      supposed === undefined
        ? null
        : {
            apps_per_match: supposed.applicationsPerMatch,
            hosts_per_app: supposed.hostsPerApplication,
          },
  };
}
