import { formatDuration } from '../../config/duration.ts';
import { countOf } from '../../model/shown-text.ts';
import { operations } from '../../model/telemetry.ts';
import { plannableOf } from '../../poll/account-plan.ts';
import type { CallPlan, PlannedInterval, Remedy } from '../survey/call-plan.ts';
import type { Assumptions, Plan, PlannedAccount } from '../survey/make-plan.ts';
import { aligned } from '../survey/plain-text.ts';

/** A plan for people. */
export function planText(plan: Plan): string {
  if (plan.accounts.length === 0) return '';
  const facts = [
    ['series', `at most ${plan.series} of New Relic data, about ${plan.ownSeries} of its own`],
    [
      'memory',
      `about ${mebibytes(plan.memoryBytes)} MiB, ${mebibytes(plan.startMemoryBytes)} MiB while it starts`,
    ],
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
    ...(supposed === undefined || isAlone ? [] : [['assumed', supposedText(supposed)]]),
    ...account.missing.map((selector) => ['matches nothing', selector]),
    ...(account.pending === 0 ? [] : [['not found so far', pendingText(account.pending)]]),
    ...(account.metricCalls === undefined ? [] : [['metrics', account.metricCalls]]),
    ['budget', budgetText(account)],
    ...remedyTexts(account).map((text, index) => [index === 0 ? 'to fit' : '', text]),
    ...account.intervals.map((interval) => ['interval', intervalText(interval, account)]),
    ['first full set', `after about ${durationText(account.firstFullSetMs)}`],
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
    account.queries > 0 && account.applications === 0 && account.demand.list_applications === 0
  );
}

function applicationsText(account: PlannedAccount): string {
  const { applications, hosts, silentApplications, excluded } = account;
  const silent =
    silentApplications > 0 ? `, ${silentApplications} of them not reporting and not polled` : '';
  const others = excluded > 0 ? `; ${excluded} more excluded` : '';
  return `${applications} with ${countOf(hosts, 'host')}${silent}${others}`;
}

/** What becomes of ids that a list left out. */
export function pendingText(count: number): string {
  return `${countOf(count, 'more id')}, of which the daemon asks for ten in each discovery`;
}

function supposedText({ applicationsPerMatch, hostsPerApplication }: Assumptions): string {
  const perMatch = countOf(applicationsPerMatch, 'application');
  const perApplication = countOf(hostsPerApplication, 'host');
  return `${perMatch} for each match, ${perApplication} for each application; --online asks New Relic`;
}

/** Whether an account fits its budget, with the numbers. */
export function budgetText({
  fits,
  budgetPerMinute,
  capacityPerMinute,
  demandPerMinute,
}: CallPlan): string {
  const ofBudget = `${rateText(demandPerMinute)} of ${budgetPerMinute} calls a minute`;
  if (fits) return `fits: ${ofBudget}`;
  const carried =
    capacityPerMinute < budgetPerMinute
      ? `; concurrency carries about ${Math.floor(capacityPerMinute)}`
      : '';
  return `does not fit: ${ofBudget}${carried}, of which ${rateText(plannableOf(capacityPerMinute))} may be planned`;
}

function togetherText({ vendor, together }: PlannedAccount): readonly string[] {
  const { replicas, callsPerMinute, startCalls, fits, mostReplicas } = together;
  const { limitPerMinute, countedBy } = vendor;
  const ofLimit = `${rateText(callsPerMinute)} of the ${limitPerMinute} calls a minute that New Relic allows for ${countedBy}`;
  const verdict = fits ? `take ${ofLimit}` : `do not fit: ${ofLimit}; at most ${mostReplicas} do`;
  const burst = startCalls > limitPerMinute ? ', over several minutes' : '';
  return ['replicas', `${replicas} ${verdict}; ${startCalls} at the start${burst}`];
}

function intervalText(
  { configuredMs, effectiveMs, polled }: PlannedInterval,
  { stretch, intervals }: PlannedAccount,
): string {
  const stretched =
    stretch > 1 ? ` instead of ${durationText(configuredMs)} (× ${stretch.toFixed(2)})` : '';
  const some = intervals.length > 1 ? `, ${polled} polled` : '';
  return `${durationText(effectiveMs)}${stretched}${some}`;
}

/** What would make an account fit. */
export function remedyTexts({ remedy, intervals, vendor }: CallPlan): readonly string[] {
  if (remedy === undefined) return [];
  const { intervalFactor } = remedy;
  const longer =
    intervalFactor === undefined
      ? 'a longer discovery_interval: discovery alone takes the budget'
      : intervalRemedy(intervals, intervalFactor);
  return [longer, `or ${limitRemedy(remedy, vendor)}`];
}

function limitRemedy(
  { budgetPerMinute, concurrency }: Remedy,
  { limitPerMinute, countedBy }: CallPlan['vendor'],
): string {
  const beyond =
    budgetPerMinute !== undefined && budgetPerMinute > limitPerMinute
      ? `; New Relic allows ${limitPerMinute} for ${countedBy}, so this takes several accounts`
      : '';
  const limits = [
    ...(budgetPerMinute === undefined ? [] : [`requests_per_minute: ${budgetPerMinute}`]),
    ...(concurrency === undefined ? [] : [`concurrency: ${concurrency}`]),
  ];
  return `${limits.join(' and ')}${beyond}`;
}

function intervalRemedy(intervals: readonly PlannedInterval[], factor: number): string {
  const longer = intervals.map(({ configuredMs }) => {
    const neededMs = Math.ceil((configuredMs * factor) / 1000) * 1000;
    return `${formatDuration(neededMs)}${intervals.length > 1 ? ` for ${formatDuration(configuredMs)}` : ''}`;
  });
  return `interval: ${longer.join(', ')}`;
}

function callLines(account: PlannedAccount): readonly string[] {
  const { demand, demandPerMinute, sent, sentPerMinute, fits, firstPollCalls, queries } = account;
  const isAlone = hasQueriesAlone(account);
  const row = (name: string, needed: number, made: number, note = ''): readonly string[] => [
    name,
    rateText(needed),
    ...(fits ? [] : [rateText(made)]),
    note,
  ];
  const shown = operations.filter((name) => (name === 'query' ? queries > 0 : !isAlone));
  const rows = shown.map((name) => {
    const isOnce = name === 'list_hosts' && firstPollCalls > 0;
    const note = isOnce ? `${firstPollCalls} once, at the start` : '';
    return row(`  ${name}`, demand[name], sent[name], note);
  });
  return aligned(
    [
      ['calls a minute', ...(fits ? [''] : ['asked for', 'sent']), ''],
      ...rows,
      row('  total', demandPerMinute, sentPerMinute),
    ],
    ['left', 'right', ...(fits ? [] : (['right'] as const)), 'left'],
  );
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? line : `  ${line}`));
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** At most one decimal. */
function rateText(perMinute: number): string {
  return `${Math.round(perMinute * 10) / 10}`;
}

function durationText(durationMs: number): string {
  return formatDuration(Math.max(1, Math.round(durationMs / 1000)) * 1000);
}
