import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { bareApplication } from '../../model/application.ts';
import type { AccountInUse } from '../../model/config.ts';
import {
  expectedHosts,
  operationsOf,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import { polledBy, selectorText } from '../../model/selector.ts';
import { discoveryOptionsOf } from '../../poll/discovery-state.ts';
import { loadForCommand, withAccounts } from '../survey/ask.ts';
import {
  type CallPlan,
  type CallPlanInput,
  perPage,
  planCalls,
  planInputOf,
  sumOf,
  vendorFacts,
} from '../survey/call-plan.ts';
import {
  type DiscoveredAccount,
  discovered,
  metricCallsOf,
  numbered,
  samplesOf,
  withAssumedHosts,
  withHosts,
} from '../survey/discovered-account.ts';
import { type Asked, type Plan, type PlannedAccount, planText } from './plan-text.ts';

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
  const document = planOf(all, flags.replicas);
  for (const { account, reason } of document.failures) {
    platform.stderr.write(`account ${account}: discovery failed: ${reason}\n`);
  }
  const output = flags.output === 'json' ? planJson(document) : planText(document);
  return { exitCode: document.fits ? 0 : 1, output };
}

/** An account that was discovered, or assumed. */
interface ToPlan {
  readonly input: CallPlanInput;
  readonly asked: Asked;
  readonly supposed: PlannedAccount['supposed'];
  /** Why the account could not be discovered. */
  readonly failure: string | undefined;
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
      excluded: excluded.length,
      missing: missing.map(({ selector }) => selectorText(selector)),
      pending: discovery.pendingIds.length,
      metricCalls: metricCallsOf(open, samples),
    },
    supposed: null,
    failure,
  };
}

/** What a discovery would find; all applications report. */
function offline(inUse: AccountInUse, flags: Flags): ToPlan {
  const { account, entries, queries = [] } = inUse;
  const supposed = {
    apps_per_match: flags.planApplicationsPerMatch,
    hosts_per_app: flags.planHostsPerApplication,
  };
  // An entry by id or name is one application. A repeated selector chooses the same applications again.
  const known = new Set<string>();
  const applications = polledBy(entries).flatMap((entry): readonly SelectedApplication[] => {
    const text = selectorText(entry.selector);
    if (known.has(text)) return [];
    known.add(text);
    const count = entry.selector.kind === 'match' ? supposed.apps_per_match : 1;
    return numbered(count).map((number) => {
      const id = entry.selector.kind === 'id' ? entry.selector.id : `${text} ${number}`;
      const hostIds = numbered(supposed.hosts_per_app);
      const hosts = { hostIds, instances: hostIds.length, reporting: true };
      const application = { ...bareApplication({ id, name: id }), ...hosts };
      return withAssumedHosts({ entry, application });
    });
  });
  // Of no applications there is none.
  const some = Math.min(1, applications.length);
  const calls = Math.max(some, Math.ceil(applications.length / perPage));
  const { cost } = vendorFacts[account.source.kind];
  const discovery = { calls, intervalMs: discoveryOptionsOf(entries).intervalMs };
  return {
    input: { account, applications, queries, cost, discovery },
    asked: { excluded: 0, missing: [], pending: 0, metricCalls: undefined },
    supposed,
    failure: undefined,
  };
}

/** Resident memory, measured on the running daemon; see docs/commands.md. */
const idleBytes = 100e6;
/** An application or a host, and each of its series. */
const bytesPerSubject = 2000;
const bytesPerSeries = 1000;
const startBytes = 140e6;

/** The exporter's own series: of the process, between those of Node.js 20 and 24, of each account, and of what it asks. */
const ownPerProcess = 68;
const ownPerAccount = 32;
const ownPerOperation = 30;

function ownSeriesOf({ input: { account, applications, queries }, asked }: ToPlan): number {
  const entries = applications.map(({ entry }) => entry);
  const operations = operationsOf({ account, entries, queries });
  return ownPerAccount + operations.length * ownPerOperation + asked.missing.length;
}

/** Adds the series and the memory of the process, and the calls of all replicas. */
function planOf(all: readonly ToPlan[], replicas: number): Plan {
  const failures = all.flatMap(({ input: { account }, failure }) =>
    failure === undefined ? [] : [{ account: account.name, reason: failure }],
  );
  const good = all.filter(({ failure }) => failure === undefined);
  const accounts = good.map(({ input, asked, supposed }): PlannedAccount => {
    const { account, fits, applications, silent_applications, queries, hosts, ...costs } =
      planCalls(input);
    const counts = { account, fits, applications, silent_applications, queries, hosts };
    const together = togetherOf(costs, replicas);
    return { ...counts, ...asked, ...costs, together, supposed };
  });
  const series = sumOf(accounts.map((account) => account.series));
  // Applications, and the hosts that are polled.
  const applications = good.flatMap(({ input }) => input.applications);
  const subjects = sumOf(applications.map((one) => 1 + expectedHosts(one)));
  const memoryBytes = idleBytes + subjects * bytesPerSubject + series * bytesPerSeries;
  const fit = accounts.every(({ fits, together }) => fits && (replicas === 1 || together.fits));
  return {
    fits: failures.length === 0 && fit,
    accounts,
    series,
    own_series: ownPerProcess + sumOf(good.map(ownSeriesOf)),
    memory_bytes: memoryBytes,
    start_memory_bytes: Math.max(startBytes, memoryBytes),
    failures,
  };
}

/** The calls of several processes with the same configuration and the same key. */
function togetherOf(
  {
    sent_per_minute: { total },
    start_calls: startCalls,
    vendor: { limitPerMinute },
  }: Pick<CallPlan, 'sent_per_minute' | 'start_calls' | 'vendor'>,
  replicas: number,
): PlannedAccount['together'] {
  const callsPerMinute = replicas * total;
  return {
    replicas,
    calls_per_minute: callsPerMinute,
    start_calls: replicas * startCalls,
    limit_per_minute: limitPerMinute,
    fits: callsPerMinute <= limitPerMinute,
    most_replicas: Math.floor(limitPerMinute / total),
  };
}

/** Only for people. */
const unprinted: ReadonlySet<string> = new Set(['vendor', 'metricCalls']);

/** A plan for machines. */
function planJson(document: Plan): string {
  const text = JSON.stringify(
    document,
    (key, value: unknown) => (unprinted.has(key) ? undefined : value),
    2,
  );
  return `${text}\n`;
}
