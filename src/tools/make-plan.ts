import { accountsInUse } from '../daemon/prepare-account.ts';
import type { AccountInUse, AccountSource, Config, Query } from '../model/config.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import { discoveryOptionsOf } from '../poll/discovery-state.ts';
import type { DiscoveredAccount } from './account-discovery.ts';
import {
  type AssumedDiscovery,
  type Assumptions,
  assumeApplications,
} from './assumed-applications.ts';
import { type CallCosts, costsOfSource } from './call-costs.ts';
import { type CallPlan, planCalls } from './call-plan.ts';

export interface PlannedAccount extends CallPlan, Asked {
  /** New Relic data, if New Relic has every value. */
  readonly series: number;
  readonly together: Together;
}

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

/** The calls of several processes with the same configuration and the same key. */
export interface Together {
  readonly replicas: number;
  readonly callsPerMinute: number;
  /** Calls until each has polled everything once. */
  readonly startCalls: number;
  /** The vendor's limit. */
  readonly limitPerMinute: number;
  /** What has this limit, as New Relic counts. */
  readonly countedBy: string;
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

/** What New Relic allows. */
interface VendorLimit {
  readonly perMinute: number;
  /** What has this limit, as New Relic counts. */
  readonly countedBy: string;
}

const vendorLimits: Readonly<Record<AccountSource['kind'], VendorLimit>> = {
  rest: { perMinute: 1000, countedBy: 'a key' },
  nerdgraph: { perMinute: 3000, countedBy: 'an account' },
};

/** The planned calls of an account, and the applications that they are for. */
export interface AccountDraft extends Asked {
  readonly source: AccountSource['kind'];
  readonly calls: CallPlan;
  readonly applications: readonly SelectedApplication[];
  readonly queries: readonly Query[];
}

/** Plans the calls of the accounts that were discovered. */
export function draftsOfDiscovered(
  discovered: readonly DiscoveredAccount[],
): readonly AccountDraft[] {
  return discovered
    .filter(({ failure }) => failure === undefined)
    .map(({ discovery, selected, costs, ...found }) => ({
      ...draftOf(found, { applications: selected, discovery }, costs),
      missing: found.missingEntries.map(({ selector }) => selectorText(selector)),
      pending: found.pendingIds.length,
      excluded: found.excluded.length,
      metricCalls: found.metricCalls,
      queries: found.queryAnswers.map(({ query, outcome: { reading } }) => ({
        ...query,
        mostRows: reading?.rows ?? query.mostRows,
      })),
    }));
}

/** Plans the calls of the accounts of a configuration without asking New Relic. */
export function draftsOfSupposed(
  config: Config,
  assumptions: Assumptions,
): readonly AccountDraft[] {
  return accountsInUse(config).map((inUse) => {
    const costs = costsOfSource(inUse.account.source.kind);
    const draft = draftOf(inUse, assumeApplications(inUse.entries, assumptions, costs));
    return { ...draft, supposed: assumptions };
  });
}

function draftOf(
  { account, entries, queries = [] }: AccountInUse,
  found: AssumedDiscovery,
  costs: CallCosts = costsOfSource(account.source.kind),
): AccountDraft {
  const { applications } = found;
  const calls = planCalls({
    account,
    costs,
    applications,
    queries,
    discovery: {
      calls: found.discovery.calls,
      intervalMs: discoveryOptionsOf({ entries }).intervalMs,
    },
  });
  const source = account.source.kind;
  const asked = { missing: [], pending: 0, excluded: 0, supposed: undefined };
  return { source, calls, applications, queries, ...asked, metricCalls: undefined };
}

/** The calls of several processes, each with this plan. */
export function togetherOf(
  {
    source,
    calls: { sentPerMinute, startCalls },
  }: Pick<AccountDraft, 'source'> & {
    readonly calls: Pick<CallPlan, 'sentPerMinute' | 'startCalls'>;
  },
  replicas: number,
): Together {
  const { perMinute, countedBy } = vendorLimits[source];
  const callsPerMinute = replicas * sentPerMinute;
  return {
    replicas,
    callsPerMinute,
    startCalls: replicas * startCalls,
    limitPerMinute: perMinute,
    countedBy,
    fits: callsPerMinute <= perMinute,
    mostReplicas: Math.floor(perMinute / sentPerMinute),
  };
}
