import type { Flags } from '../cli/flag-table.ts';
import type { Outcome } from '../cli/one-shot.ts';
import { loadForCommand, renderWarnings } from '../daemon/config-reader.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import type { Config } from '../model/config.ts';
import { expectedHosts } from '../model/selected-application.ts';
import { discoverAccounts } from './account-discovery.ts';
import { expectedSeries, type SeriesInput } from './expected-series.ts';
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
export async function plan(flags: Flags, platform: Platform): Promise<Outcome> {
  if (flags.output === 'yaml') {
    throw new CommandError(2, 'plan: --output=yaml is only for discover: expected text or json');
  }
  const { config, warnings } = await loadForCommand(flags.configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  const result = await completed(await draftsOf(config, flags, platform), flags.replicas, platform);
  for (const { account, reason } of result.failures) {
    platform.stderr.write(`account ${account}: discovery failed: ${reason}\n`);
  }
  const output = flags.output === 'json' ? planJson(result) : planText(result);
  return { exitCode: result.fits ? 0 : 1, output };
}

interface Drafts extends Pick<Plan, 'failures'> {
  readonly drafts: readonly AccountDraft[];
}

async function draftsOf(config: Config, flags: Flags, platform: Platform): Promise<Drafts> {
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

/** Adds the series and the memory of the process, and the calls of all replicas. */
async function completed(
  { drafts, failures }: Drafts,
  replicas: number,
  platform: Platform,
): Promise<Plan> {
  const inputs = drafts.map(({ calls, applications, missing }) => ({
    account: calls.account,
    applications,
    missing,
  }));
  const expected = await expectedSeries(inputs, platform);
  const accounts = drafts.map(({ source, calls, missing, supposed, metricCalls }) => ({
    ...calls,
    series: expected.byAccount.get(calls.account) ?? 0,
    missing,
    supposed,
    metricCalls,
    together: togetherOf({ source, calls }, replicas),
  }));
  const series = accounts.reduce((sum, account) => sum + account.series, 0);
  const memoryBytes = idleBytes + subjectsOf(inputs) * bytesPerSubject + series * bytesPerSeries;
  return {
    fits:
      failures.length === 0 &&
      accounts.every(({ fits, together }) => fits && (replicas === 1 || together.fits)),
    accounts,
    series,
    ownSeries: expected.own,
    memoryBytes,
    startMemoryBytes: Math.max(startBytes, memoryBytes),
    failures,
  };
}

/** Applications, and the hosts that are polled. */
function subjectsOf(inputs: readonly SeriesInput[]): number {
  const applications = inputs.flatMap((input) => input.applications);
  return applications.reduce((sum, one) => sum + 1 + expectedHosts(one), 0);
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
    hosts: account.hosts,
    missing: account.missing,
    budget_per_minute: account.budgetPerMinute,
    capacity_per_minute: account.capacityPerMinute,
    demand_per_minute: { ...account.demand, total: account.demandPerMinute },
    sent_per_minute: { ...account.sent, total: account.sentPerMinute },
    stretch: account.stretch,
    intervals: account.intervals.map(({ configuredMs, effectiveMs, applications }) => ({
      configured_seconds: configuredMs / 1000,
      effective_seconds: effectiveMs / 1000,
      applications,
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
