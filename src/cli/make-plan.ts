import type { Platform } from '../daemon/platform.ts';
import { accountsInUse } from '../daemon/prepare-account.ts';
import type { AccountConfig, AppEntry, Config } from '../model/config.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { restCosts } from '../newrelic/rest-source.ts';
import { type CallPlan, planCalls } from '../poller/call-plan.ts';
import { discoveryIntervalOf } from '../poller/demand.ts';
import { type Assumptions, assumeApplications } from './assumed-applications.ts';
import { expectedSeries } from './check-config.ts';
import type { DiscoveredAccount } from './online-discovery.ts';

/** What an account would take if every application had so many hosts. */
export interface Variant {
  readonly hostsPerApplication: number;
  readonly demandPerMinute: number;
  readonly stretch: number;
  /** The longest of the account. */
  readonly effectiveIntervalMs: number;
}

/** What a plan without the vendor rests on. */
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

/** What processes with the same configuration take of one key. */
export interface Together {
  readonly replicas: number;
  readonly callsPerMinute: number;
  /** Calls until each has polled everything once. */
  readonly startCalls: number;
  /** What the vendor allows for the key. */
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
  /** The most that it takes for a moment at the start. */
  readonly startMemoryBytes: number;
  /** Accounts that could not be discovered, with the reason. */
  readonly failures: readonly { readonly account: string; readonly reason: string }[];
}

/** Measured on the running daemon: see docs/operations.md. */
const idleBytes = 80e6;
const bytesPerSeries = 2000;
const startBytes = 126e6;

/** The vendor's limit for one key. */
export const vendorLimitPerMinute = 1000;

const variedHosts: readonly number[] = [1, 5, 10, 20, 50, 100];

/** A plan from what discoveries found. */
export async function planDiscovered(
  discovered: readonly DiscoveredAccount[],
  replicas: number,
  platform: Platform,
): Promise<Plan> {
  const drafts = discovered
    .filter(({ failure }) => failure === undefined)
    .map(({ account, entries, discovery, selected, missing }) => ({
      ...draftOf(account, entries, { applications: selected, calls: discovery.calls }),
      missing,
    }));
  const failures = discovered.flatMap(({ account, failure }) =>
    failure === undefined ? [] : [{ account: account.name, reason: failure }],
  );
  return completed(drafts, failures, replicas, platform);
}

/** A plan from the configuration alone. */
export async function planSupposed(
  config: Config,
  assumptions: Assumptions,
  replicas: number,
  platform: Platform,
): Promise<Plan> {
  const drafts = accountsInUse(config).map(({ account, entries }) => {
    const draftWith = (hostsPerApplication: number): Draft =>
      draftOf(
        account,
        entries,
        assumeApplications(entries, { ...assumptions, hostsPerApplication }, restCosts),
      );
    const variants = variedHosts.map((hostsPerApplication) =>
      variantOf(hostsPerApplication, draftWith(hostsPerApplication).plan),
    );
    return {
      ...draftWith(assumptions.hostsPerApplication),
      supposed: { ...assumptions, variants },
    };
  });
  return completed(drafts, [], replicas, platform);
}

interface Draft {
  readonly plan: CallPlan;
  readonly applications: readonly SelectedApplication[];
  readonly missing: readonly string[];
  readonly supposed: Supposed | undefined;
}

function draftOf(
  account: AccountConfig,
  entries: readonly AppEntry[],
  found: { readonly applications: readonly SelectedApplication[]; readonly calls: number },
): Draft {
  const plan = planCalls({
    account,
    costs: restCosts,
    applications: found.applications,
    discovery: {
      calls: found.calls,
      intervalMs: discoveryIntervalOf(entries.map(({ poll }) => poll)),
    },
  });
  return { plan, applications: found.applications, missing: [], supposed: undefined };
}

function variantOf(hostsPerApplication: number, plan: CallPlan): Variant {
  return {
    hostsPerApplication,
    demandPerMinute: plan.demandPerMinute,
    stretch: plan.stretch,
    effectiveIntervalMs: plan.intervals.at(-1)?.effectiveMs ?? 0,
  };
}

function togetherOf({ sentPerMinute, startCalls }: CallPlan, replicas: number): Together {
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

async function completed(
  drafts: readonly Draft[],
  failures: Plan['failures'],
  replicas: number,
  platform: Platform,
): Promise<Plan> {
  const inputs = drafts.map(({ plan, applications, missing }) => ({
    account: plan.account,
    applications,
    missing,
  }));
  const expected = await expectedSeries(inputs, platform);
  const accounts = drafts.map(({ plan, missing, supposed }) => ({
    ...plan,
    series: expected.byAccount.get(plan.account) ?? 0,
    missing,
    supposed,
    together: togetherOf(plan, replicas),
  }));
  const series = accounts.reduce((sum, account) => sum + account.series, 0);
  const memoryBytes = idleBytes + series * bytesPerSeries;
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
