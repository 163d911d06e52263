import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { bareApplication } from '../../model/application.ts';
import type { AccountInUse, AppEntry } from '../../model/config.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import { polledBy, selectorText } from '../../model/selector.ts';
import { discoveryOptionsOf } from '../../poll/discovery-state.ts';
import { loadForCommand, withAccounts } from '../survey/ask.ts';
import { discoveryCalls, vendorFacts } from '../survey/call-plan.ts';
import {
  type DiscoveredAccount,
  discovered,
  metricCallsOf,
  numbered,
  samplesOf,
  withAssumedHosts,
  withHosts,
} from '../survey/discovered-account.ts';
import {
  type Assumptions,
  completed,
  type Plan,
  type PlannedAccount,
  planInputOf,
  type ToPlan,
} from '../survey/make-plan.ts';
import { planText } from './plan-text.ts';

/**
 * Prints what polling the configured applications will cost: under assumptions, or with `--online`
 * according to one discovery. Ends with 1 if an account does not fit its budget, or could not be
 * discovered.
 */
export async function plan(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const config = await loadForCommand(flags.configFile, platform);
  const inUse = accountsInUse(config);
  const all = flags.online
    ? await withAccounts(inUse, platform, async (accounts) =>
        Promise.all(accounts.map(async (open) => online(await discovered(open)))),
      )
    : inUse.map((one) => offline(one, flags));
  const result = completed(all, flags.replicas);
  for (const { account, reason } of result.failures) {
    platform.stderr.write(`account ${account}: discovery failed: ${reason}\n`);
  }
  const output = flags.output === 'json' ? planJson(result) : planText(result);
  return { exitCode: result.fits ? 0 : 1, output };
}

async function online(found: DiscoveredAccount): Promise<ToPlan> {
  const { open, discovery, missing, excluded, failure } = found;
  // One sample is enough to see what calls cost.
  const isInDoubt = open.source.metricCalls?.(polledBy(open.entries)) !== undefined;
  const applications = await withHosts(found);
  const samples = isInDoubt ? await samplesOf(found, 1) : [];
  return {
    input: planInputOf(found, applications),
    asked: {
      missing: missing.map(({ selector }) => selectorText(selector)),
      pending: discovery.pendingIds.length,
      excluded: excluded.length,
      supposed: undefined,
      metricCalls: metricCallsOf(open, samples),
    },
    failure,
  };
}

/** What a discovery would find; all applications report. */
function offline(inUse: AccountInUse, flags: Flags): ToPlan {
  const { account, entries, queries = [] } = inUse;
  const supposed = {
    applicationsPerMatch: flags.planApplicationsPerMatch,
    hostsPerApplication: flags.planHostsPerApplication,
  };
  const applications = assumedApplications(entries, supposed);
  const calls = applications.length === 0 ? 0 : discoveryCalls(applications.length);
  const { cost } = vendorFacts[account.source.kind];
  const discovery = { calls, intervalMs: discoveryOptionsOf(inUse.entries).intervalMs };
  return {
    input: { account, applications, queries, cost, discovery },
    asked: { missing: [], pending: 0, excluded: 0, supposed, metricCalls: undefined },
    failure: undefined,
  };
}

/** An entry by id or name is one application, one by pattern as many as assumed. */
function assumedApplications(
  entries: readonly AppEntry[],
  { applicationsPerMatch, hostsPerApplication }: Assumptions,
): readonly SelectedApplication[] {
  // A repeated selector chooses the same applications again.
  const bySelector = new Map<string, AppEntry>();
  for (const entry of polledBy(entries)) {
    const text = selectorText(entry.selector);
    if (!bySelector.has(text)) bySelector.set(text, entry);
  }
  return [...bySelector].flatMap(([text, entry]) =>
    numbered(entry.selector.kind === 'match' ? applicationsPerMatch : 1).map((number) => {
      const id = entry.selector.kind === 'id' ? entry.selector.id : `${text} ${number}`;
      const application = {
        ...bareApplication({ id, name: id }),
        reporting: true,
        hostIds: numbered(hostsPerApplication),
        instances: hostsPerApplication,
      };
      return withAssumedHosts({ entry, application });
    }),
  );
}

/** A plan for machines. Times are in seconds, calls in calls a minute. */
function planJson(planned: Plan): string {
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
      limit_per_minute: account.vendor.limitPerMinute,
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
