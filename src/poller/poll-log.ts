import { ApiError } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { AppEntry } from '../model/config.ts';
import { hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import { selectorText } from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import type { AccountPlan } from './account-plan.ts';
import type { AppState } from './app-state.ts';
import { applicationFieldsOf } from './application-fields.ts';
import {
  type ChangeLog,
  type ChangeLogDependencies,
  type ChangeLogOptions,
  createChangeLog,
  type StateChange,
  type StateLines,
  type SubjectState,
} from './change-log.ts';
import { createDemandReport } from './demand-log.ts';
import { boundsOfMetrics, createMetricLog, type MetricLog } from './metric-log.ts';
import { createReminder } from './reminder.ts';
import { boundsOfValues, createValuesLog } from './values-log.ts';

/** Writes what has changed in one account, in a bounded number of lines however bad it gets. */
export interface PollLog {
  /**
   * @param known the applications of the account now, by id
   * @param missing all entries that choose nothing now; the same array again means no change
   */
  discovered(
    discovery: Discovery,
    known: ReadonlyMap<string, AppState>,
    missing: readonly AppEntry[],
  ): void;
  polled(before: AppState, after: AppState, outcome: PollOutcome): void;
  /**
   * @param ids the applications whose values were dropped, because they were not renewed in time
   * @param known the applications of the account now, by id
   */
  dropped(ids: readonly string[], known: ReadonlyMap<string, AppState>): void;
  demand(plan: AccountPlan): void;
  readonly metrics: MetricLog['write'];
  /** Writes what was only counted so far, and leaves no timer. */
  stop(): void;
}

type Bounds = Omit<ChangeLogOptions, 'account'>;

const boundsOfApplications: Bounds = {
  // A few, so that a small installation sees every one by name.
  burst: { inFull: 3, countField: 'applications' },
  flapMessage: 'applications keep failing and recovering',
};
const pollLines: StateLines = {
  level: 'warn',
  fails: ['poll failed', 'poll failed for more applications'],
  works: ['poll works again', 'poll works again for more applications'],
};
const presenceLines: StateLines = {
  level: 'info',
  fails: ['application is gone', 'more applications are gone'],
  works: ['application is back', 'more applications are back'],
};

const boundsOfEntries: Bounds = {
  // The status page and `newrelic_exporter_app_missing` show the others.
  burst: { inFull: 10, countField: 'entries' },
  flapMessage: 'entries of apps keep losing and finding what they match',
};
const entryLines: StateLines = {
  level: 'warn',
  fails: ['entry of apps matches nothing', 'more entries of apps match nothing'],
  works: ['entry of apps matches again', 'more entries of apps match again'],
  remedy:
    'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name',
};

const boundsOfDiscovery: Bounds = { flapMessage: 'discovery keeps failing and recovering' };
const discoveryLines: StateLines = {
  level: 'error',
  fails: ['discovery failed'],
  works: ['discovery works again'],
};
const firstDiscoveryLines: StateLines = { ...discoveryLines, works: ['account discovered'] };

const boundsOfHostNames: Bounds = { flapMessage: 'host names keep failing and recovering' };
const hostNamesLines: StateLines = {
  level: 'warn',
  fails: ['host names not available'],
  works: ['host names available again'],
  remedy: 'hosts are shown by their id until it works; host_names: false switches it off',
};

export function createPollLog(account: string, dependencies: ChangeLogDependencies): PollLog {
  const logWithin = (bounds: Bounds): ChangeLog =>
    createChangeLog({ account, ...bounds }, dependencies);
  const applications = logWithin(boundsOfApplications);
  const values = createValuesLog(logWithin(boundsOfValues));
  const reminder = createReminder(account, dependencies);
  const discoveries = logWithin(boundsOfDiscovery);
  const entries = logWithin(boundsOfEntries);
  const hostNames = logWithin(boundsOfHostNames);
  const demands = logWithin({});
  const metrics = createMetricLog(logWithin(boundsOfMetrics));
  const reportDiscovery = createDiscoveryReport(account, discoveries);
  const reportMissing = createMissingReport(entries);
  const names = createHostNamesReport(account, hostNames);

  const remember = (state: AppState): void => {
    const { app_id: id, app_name: name } = applicationFieldsOf(state.selected.application);
    if (state.pollSucceeded === false) reminder.failed(id, name, state.failure?.reason);
    else reminder.works(id);
  };

  return {
    discovered: (discovery, known, missing) => {
      reportDiscovery(discovery, known.size);
      reminder.discovered(failureOf(discovery));
      for (const report of [names, values, reminder]) report.keepOnly(known);
      if (discovery.complete) reportMissing(missing);
    },
    polled: (before, after, outcome) => {
      // Mostly nothing has: ten thousand applications are polled a minute.
      if (hasChanged(before, after)) applications.write(applicationChanges(before, after, outcome));
      names.asked(after.selected.application, outcome);
      values.polled(after);
      remember(after);
    },
    dropped: (ids, known) => {
      const states = ids.map((id) => known.get(id)).filter((state) => state !== undefined);
      values.dropped(states);
      for (const state of states) remember(state);
    },
    demand: createDemandReport(account, demands, dependencies.clock),
    metrics: metrics.write,
    stop: () => {
      const logs = [
        applications,
        values,
        metrics,
        discoveries,
        entries,
        hostNames,
        demands,
        reminder,
      ];
      for (const log of logs) log.stop();
    },
  };
}

function hasChanged(before: AppState, after: AppState): boolean {
  if (before.gone !== after.gone || before.pollSucceeded !== after.pollSucceeded) return true;
  return before.failure?.reason !== after.failure?.reason;
}

function applicationChanges(
  before: AppState,
  after: AppState,
  { error, failed, askedParts }: PollOutcome,
): readonly StateChange[] {
  const fields = applicationFieldsOf(after.selected.application);
  const subject = { id: fields.app_id, name: fields.app_name };
  const presence = { before: { isFailing: before.gone }, after: { isFailing: after.gone } };
  const poll = { before: pollStateOf(before), after: pollStateOf(after) };
  const details = { failed: failed.size, calls: askedParts, error };
  const pollFields = poll.after.isFailing ? { ...fields, ...details } : fields;
  return [
    { ...subject, lines: presenceLines, ...presence, fields },
    { ...subject, lines: pollLines, ...poll, fields: pollFields },
  ];
}

function pollStateOf({ pollSucceeded, failure, gone }: AppState): SubjectState {
  return { isFailing: pollSucceeded === false, reason: gone ? undefined : failure?.reason };
}

function failureOf({ complete, error }: Discovery): Error | undefined {
  return complete ? undefined : (error ?? new Error('the list of applications is not complete'));
}

function createDiscoveryReport(account: string, log: ChangeLog) {
  let before: SubjectState | undefined;
  return ({ complete, error, applications }: Discovery, selected: number): void => {
    const reason = !complete && error instanceof ApiError ? error.reason : undefined;
    const after = { isFailing: !complete, reason };
    const lines = before === undefined ? firstDiscoveryLines : discoveryLines;
    const fields = complete ? { listed: applications.length, selected } : { error };
    log.write([{ id: account, name: account, lines, before, after, fields }]);
    before = after;
  };
}

function createMissingReport(log: ChangeLog) {
  let last: readonly AppEntry[] | undefined;
  let before: ReadonlySet<string> = new Set();
  return (missing: readonly AppEntry[]): void => {
    if (missing === last) return;
    last = missing;
    const after = new Set(missing.map(({ selector }) => selectorText(selector)));
    log.write(entryChanges(before, after));
    before = after;
  };
}

function* entryChanges(
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): Generator<StateChange> {
  for (const selector of after) if (!before.has(selector)) yield entryChange(selector, true);
  for (const selector of before) if (!after.has(selector)) yield entryChange(selector, false);
}

function entryChange(selector: string, isFailing: boolean): StateChange {
  const states = { before: { isFailing: !isFailing }, after: { isFailing } };
  return { id: selector, name: selector, lines: entryLines, ...states, fields: { selector } };
}

/** Names mostly fail alike for all applications: the account is the subject. */
function createHostNamesReport(account: string, log: ChangeLog) {
  /** The ids of the applications whose host names could not be read. */
  const failing = new Set<string>();
  return {
    asked: (
      application: Application,
      { hostNames, hostNamesError: error, failed }: PollOutcome,
    ): void => {
      // The poll failed because it has no names, and that failure has its own line.
      if (failed.has(hostsScope)) return;
      const before = { isFailing: failing.size > 0 };
      if (error !== undefined) failing.add(application.id);
      else if (hostNames !== undefined) failing.delete(application.id);
      const after = { isFailing: failing.size > 0 };
      const fields = { ...applicationFieldsOf(application), ...(after.isFailing ? { error } : {}) };
      log.write([{ id: account, name: account, lines: hostNamesLines, before, after, fields }]);
    },
    /** Forgets the applications that are no longer there. */
    keepOnly: (known: { has(id: string): boolean }): void => {
      for (const id of failing) if (!known.has(id)) failing.delete(id);
    },
  };
}
