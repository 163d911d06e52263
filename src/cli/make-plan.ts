import { buildOf } from '../daemon/build.ts';
import type { Platform } from '../daemon/platform.ts';
import { accountsInUse } from '../daemon/prepare-account.ts';
import { gzipFast } from '../exposition/page.ts';
import { createSeriesStore } from '../exposition/series-store.ts';
import type { AccountConfig, AppEntry, Config } from '../model/config.ts';
import {
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { AppSnapshot, Throughput } from '../model/snapshot.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import { type CallPlan, planCalls } from '../poller/call-plan.ts';
import { discoveryIntervalOf } from '../poller/demand.ts';
import { restCosts } from '../rest/rest-source.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';
import type { DiscoveredAccount } from './account-discovery.ts';
import { type Assumptions, assumeApplications } from './assumed-applications.ts';

/** The plan of an account if every application had this number of hosts. */
export interface Variant {
  readonly hostsPerApplication: number;
  readonly demandPerMinute: number;
  readonly stretch: number;
  /** The longest interval of the account. */
  readonly effectiveIntervalMs: number;
}

/** The assumptions of a plan without the vendor. */
export interface Supposed extends Assumptions {
  /** The same account with fewer and more hosts. */
  readonly variants: readonly Variant[];
}

export interface PlannedAccount extends CallPlan {
  /** New Relic data, if the vendor has every value. */
  readonly series: number;
  /** Entries that match nothing, as written. */
  readonly missing: readonly string[];
  /** `undefined` when the vendor was asked. */
  readonly supposed: Supposed | undefined;
  readonly together: Together;
}

/** The calls of several processes with the same configuration and the same key. */
export interface Together {
  readonly replicas: number;
  readonly callsPerMinute: number;
  /** Calls until each has polled everything once. */
  readonly startCalls: number;
  /** The vendor's limit for the key. */
  readonly limitPerMinute: number;
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

/** The vendor's limit for one key. */
export const vendorLimitPerMinute = 1000;

const variedHosts: readonly number[] = [1, 5, 10, 20, 50, 100];

/** The planned calls of an account, and the applications that they are for. */
export interface AccountDraft {
  readonly calls: CallPlan;
  readonly applications: readonly SelectedApplication[];
  readonly missing: readonly string[];
  readonly supposed: Supposed | undefined;
}

/** Plans the calls of the accounts that were discovered. */
export function draftsOfDiscovered(
  discovered: readonly DiscoveredAccount[],
): readonly AccountDraft[] {
  return discovered
    .filter(({ failure }) => failure === undefined)
    .map(({ account, entries, discovery, selected, missing }) => ({
      ...draftOf(account, entries, { applications: selected, calls: discovery.calls }),
      missing,
    }));
}

/** Plans the calls of the accounts of a configuration without asking the vendor. */
export function draftsOfSupposed(
  config: Config,
  assumptions: Assumptions,
): readonly AccountDraft[] {
  return accountsInUse(config).map(({ account, entries }) => {
    const draftWith = (hostsPerApplication: number): AccountDraft =>
      draftOf(
        account,
        entries,
        assumeApplications(entries, { ...assumptions, hostsPerApplication }, restCosts),
      );
    const variants = variedHosts.map((hostsPerApplication) =>
      variantOf(hostsPerApplication, draftWith(hostsPerApplication).calls),
    );
    return {
      ...draftWith(assumptions.hostsPerApplication),
      supposed: { ...assumptions, variants },
    };
  });
}

function draftOf(
  account: AccountConfig,
  entries: readonly AppEntry[],
  found: { readonly applications: readonly SelectedApplication[]; readonly calls: number },
): AccountDraft {
  const calls = planCalls({
    account,
    costs: restCosts,
    applications: found.applications,
    discovery: {
      calls: found.calls,
      intervalMs: discoveryIntervalOf(entries.map(({ poll }) => poll)),
    },
  });
  return { calls, applications: found.applications, missing: [], supposed: undefined };
}

function variantOf(hostsPerApplication: number, plan: CallPlan): Variant {
  return {
    hostsPerApplication,
    demandPerMinute: plan.demandPerMinute,
    stretch: plan.stretch,
    effectiveIntervalMs: plan.intervals.at(-1)?.effectiveMs ?? 0,
  };
}

/** The calls of several processes, each with this plan. */
export function togetherOf({ sentPerMinute, startCalls }: CallPlan, replicas: number): Together {
  const callsPerMinute = replicas * sentPerMinute;
  return {
    replicas,
    callsPerMinute,
    startCalls: replicas * startCalls,
    limitPerMinute: vendorLimitPerMinute,
    fits: callsPerMinute <= vendorLimitPerMinute,
    mostReplicas: Math.floor(vendorLimitPerMinute / sentPerMinute),
  };
}

/** The facts of an account that decide how many series it has. */
interface SeriesInput {
  readonly account: string;
  readonly applications: readonly SelectedApplication[];
  readonly missing: readonly string[];
}

interface ExpectedSeries {
  /** New Relic data of each account, `newrelic_up` included, if the vendor has every value. */
  readonly byAccount: ReadonlyMap<string, number>;
  /** The exporter's own, of all accounts together. */
  readonly own: number;
}

/** Counts the series by rendering them as the daemon would if every answer held every value. */
export async function expectedSeries(
  inputs: readonly SeriesInput[],
  platform: Platform,
): Promise<ExpectedSeries> {
  const store = createSeriesStore({ gzip: gzipFast, nextTurn: platform.nextTurn });
  for (const { account, applications } of inputs) {
    store.accountUp(account, true);
    for (const selected of applications) store.publish(fullSnapshot(account, selected));
  }
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status: () => inputs.map(statusOf),
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: () => 0,
  });
  for (const { account } of inputs) {
    metrics.apiObserver(account);
    metrics.pollObserver(account);
  }
  metrics.configReloaded(true, 0);
  const own = (await metrics.text()).split('\n').filter((line) => /^[a-z]/u.test(line)).length;
  return {
    byAccount: new Map(inputs.map(({ account }) => [account, store.seriesOf(account)])),
    own,
  };
}

function fullSnapshot(account: string, selected: SelectedApplication): AppSnapshot {
  const { application, entry } = selected;
  const isPolled = isWorthPolling(selected);
  const throughput: Throughput = new Map(entry.transactions.map((type) => [type, 0]));
  const hosts = isPolled ? hostsToPoll(selected) : [];
  return {
    account,
    application,
    hostsOnly: !entry.application,
    labels: entry.labels,
    hostNames: new Map(),
    reading: {
      windowEndMs: isPolled ? 0 : undefined,
      application: isPolled ? throughput : new Map(),
      hosts: new Map(hosts.map((id) => [id, throughput])),
    },
    pollSucceeded: true,
    lastSuccessMs: 0,
  };
}

function statusOf({ account, missing }: SeriesInput): AccountStatus {
  return {
    name: account,
    up: true,
    error: undefined,
    firstCycleEnded: true,
    applications: 0,
    hosts: 0,
    polledApplications: 0,
    requestsInFlight: 0,
    budgetRequestsPerMinute: 0,
    demandRequestsPerMinute: 0,
    pollIntervalSeconds: 0,
    backoffUntilMs: undefined,
    missingSelectors: missing,
  };
}
