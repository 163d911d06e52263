import type { Plan, PlannedAccount } from './make-plan.ts';

/** A plan for machines. Times are in seconds, calls in calls a minute. */
export function planJson(plan: Plan): string {
  const document = {
    fits: plan.fits,
    accounts: plan.accounts.map(accountDocument),
    series: plan.series,
    own_series: plan.ownSeries,
    memory_bytes: plan.memoryBytes,
    start_memory_bytes: plan.startMemoryBytes,
    failures: plan.failures,
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
    host_name_calls: account.hostNameCalls,
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
