import { formatDuration } from '../../config/duration.ts';
import { countOf } from '../../model/shown-text.ts';
import { operationNames } from '../../model/telemetry.ts';
import { budgetText, type CallPlan, rateText, remedyTexts } from '../survey/call-plan.ts';
import { aligned, indented, pendingText } from '../survey/plain-text.ts';

/** What New Relic was asked of an account. */
export interface Asked {
  /** Applications that entries exclude. */
  readonly excluded: number;
  /** Entries that match nothing, as written. */
  readonly missing: readonly string[];
  /** Further ids that were not found in a list of several, and have not been asked for alone. */
  readonly pending: number;
  /** How many calls the metrics of an entry take, in words, as far as New Relic was asked. Not for machines. */
  readonly metricCalls: string | undefined;
}

export interface PlannedAccount extends CallPlan, Asked {
  /** The calls of several processes with the same configuration and the same key. */
  readonly together: {
    readonly replicas: number;
    readonly calls_per_minute: number;
    /** Calls until each has polled everything once. */
    readonly start_calls: number;
    readonly limit_per_minute: number;
    readonly fits: boolean;
    /** How many processes would fit. */
    readonly most_replicas: number;
  };
  /** What a plan without New Relic assumes; `null` when New Relic was asked. */
  readonly supposed: { readonly apps_per_match: number; readonly hosts_per_app: number } | null;
}

/** A plan as it is printed for machines. Times are in seconds, calls in calls a minute. */
export interface Plan {
  readonly fits: boolean;
  readonly accounts: readonly PlannedAccount[];
  /** Series of New Relic data and of the exporter itself, all accounts together. */
  readonly series: number;
  readonly own_series: number;
  /** About how much memory the process will take, and the peak at the start. */
  readonly memory_bytes: number;
  readonly start_memory_bytes: number;
  /** Accounts that could not be discovered, with the reason. */
  readonly failures: readonly { readonly account: string; readonly reason: string }[];
}

/** A plan for people. */
export function planText(plan: Plan): string {
  if (plan.accounts.length === 0) return '';
  const [memory, atStart] = [plan.memory_bytes, plan.start_memory_bytes].map((bytes) =>
    Math.round(bytes / 2 ** 20),
  );
  const facts = [
    ['series', `at most ${plan.series} of New Relic data, about ${plan.own_series} of its own`],
    ['memory', `about ${memory} MiB, ${atStart} MiB while it starts`],
  ];
  return [
    ...plan.accounts.flatMap((account) => [...accountLines(account), '']),
    'the exporter',
    ...indented(aligned(facts)),
    '',
  ].join('\n');
}

function accountLines(account: PlannedAccount): readonly string[] {
  const { supposed } = account;
  const isAlone = hasQueriesAlone(account);
  const facts = [
    ...(isAlone ? [] : [['applications', applicationsText(account)]]),
    ...(account.queries === 0 ? [] : [['queries', String(account.queries)]]),
    ...(supposed === null || isAlone ? [] : [['assumed', supposedText(supposed)]]),
    ...account.missing.map((selector) => ['matches nothing', selector]),
    ...(account.pending === 0 ? [] : [['not found so far', pendingText(account.pending)]]),
    ...(account.metricCalls === undefined ? [] : [['metrics', account.metricCalls]]),
    ['budget', budgetText(account)],
    ...remedyTexts(account).map((text, index) => [index === 0 ? 'to fit' : '', text]),
    ...account.intervals.map((interval) => ['interval', intervalText(interval, account)]),
    ['first full set', `after about ${durationText(account.first_full_set_seconds)}`],
    ['series', `at most ${account.series}`],
    ...(account.together.replicas === 1 ? [] : [togetherText(account)]),
  ];
  return [
    `account ${account.account}`,
    ...indented(aligned(facts)),
    '',
    ...indented(callLines(account)),
  ];
}

function hasQueriesAlone(account: PlannedAccount): boolean {
  return (
    account.queries > 0 &&
    account.applications === 0 &&
    account.demand_per_minute.list_applications === 0
  );
}

function applicationsText(account: PlannedAccount): string {
  const { applications, hosts, silent_applications: silentOnes, excluded } = account;
  const silent = silentOnes > 0 ? `, ${silentOnes} of them not reporting and not polled` : '';
  const others = excluded > 0 ? `; ${excluded} more excluded` : '';
  return `${applications} with ${countOf(hosts, 'host')}${silent}${others}`;
}

function supposedText(supposed: NonNullable<PlannedAccount['supposed']>): string {
  const perMatch = countOf(supposed.apps_per_match, 'application');
  const perApplication = countOf(supposed.hosts_per_app, 'host');
  return `${perMatch} for each match, ${perApplication} for each application; --online asks New Relic`;
}

function togetherText({ vendor, together }: PlannedAccount): readonly string[] {
  const { replicas, start_calls: startCalls, limit_per_minute: limit, fits } = together;
  const rate = rateText(together.calls_per_minute);
  const ofLimit = `${rate} of the ${limit} calls a minute that New Relic allows for ${vendor.countedBy}`;
  const verdict = fits
    ? `take ${ofLimit}`
    : `do not fit: ${ofLimit}; at most ${together.most_replicas} do`;
  const burst = startCalls > limit ? ', over several minutes' : '';
  return ['replicas', `${replicas} ${verdict}; ${startCalls} at the start${burst}`];
}

function intervalText(
  {
    configured_seconds: configured,
    effective_seconds: effective,
    polled,
  }: CallPlan['intervals'][number],
  { stretch, intervals }: PlannedAccount,
): string {
  const stretched =
    stretch > 1 ? ` instead of ${durationText(configured)} (× ${stretch.toFixed(2)})` : '';
  const some = intervals.length > 1 ? `, ${polled} polled` : '';
  return `${durationText(effective)}${stretched}${some}`;
}

function callLines(account: PlannedAccount): readonly string[] {
  const { demand_per_minute: demand, sent_per_minute: sent, fits, queries } = account;
  const calls = account.host_name_calls;
  const once = calls > 0 ? `${calls} once, at the start` : '';
  const isAlone = hasQueriesAlone(account);
  const shown = operationNames.filter((name) => (name === 'query' ? queries > 0 : !isAlone));
  const rows = [...shown, 'total' as const].map((name) => [
    `  ${name}`,
    rateText(demand[name]),
    ...(fits ? [] : [rateText(sent[name])]),
    name === 'list_hosts' ? once : '',
  ]);
  const header = ['calls a minute', ...(fits ? [''] : ['asked for', 'sent']), ''];
  return aligned([header, ...rows], ['left', 'right', ...(fits ? [] : ['right' as const]), 'left']);
}

function durationText(seconds: number): string {
  return formatDuration(Math.max(1, Math.round(seconds)) * 1000);
}
