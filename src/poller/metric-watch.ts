import type { AppEntry } from '../model/config.ts';
import type { MissingMetric } from '../model/missing-metric.ts';
import { areSameSeries, isReadOf, throughputOf } from '../model/polled-series.ts';
import type { PresetName } from '../model/presets.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';

export interface MetricWatchDependencies {
  readonly states: { readonly all: ReadonlyMap<string, AppState> };
  readonly log: {
    /** Called with metrics that turn out to be missing, or that have a value after all. */
    metrics(metrics: readonly MissingMetric[], isMissing: boolean): void;
  };
}

/** A metric of an entry. The gauge of a preset is one, whatever its transaction types. */
interface Watched {
  readonly named: MissingMetric;
  /** Where its values are in a reading. */
  readonly indexes: readonly number[];
  readonly ofHostsAlone: boolean;
}

interface EntryWatch {
  readonly entry: AppEntry;
  /** What no application has had a value of so far, with what is called missing. */
  open: readonly Watched[];
  missing: ReadonlySet<Watched>;
  /** Whether an application had requests in its second whole poll, or a later one; and hosts as well. */
  isBusy: boolean;
  hasBusyHosts: boolean;
}

const nothing: ReadonlySet<Watched> = new Set();

const enoughPolls = 2;

/** What is found at once: some milliseconds. The rest is found after the next discovery. */
const mostAtOnce = 5000;

/**
 * Finds the metrics of which no application of an entry ever had a value: a misspelt name must not look like
 * an idle application. An entry is judged once each of its applications that does not fail has had two whole
 * polls, if one of them had requests then. An entry that asks for something else begins anew.
 */
export class MetricWatch {
  readonly #dependencies: MetricWatchDependencies;
  /** By the selector. */
  readonly #watches = new Map<string, EntryWatch>();
  /** Whole polls by the id of the application. Those for another watch prove nothing. */
  readonly #polls = new Map<string, { readonly watch: EntryWatch; readonly count: number }>();
  #missing: readonly MissingMetric[] | undefined;

  constructor(dependencies: MetricWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** All missing metrics; the same array as long as nothing in it changes. */
  get missing(): readonly MissingMetric[] {
    this.#missing ??= [...this.#watches.values()].flatMap(({ missing }) => namesOf([...missing]));
    return this.#missing;
  }

  polled({ selected, pollSucceeded, gone }: AppState, reading: AppReading | undefined): void {
    const { entry, application } = selected;
    const watch = this.#watchOf(entry);
    if (watch === undefined || watch.open.length === 0 || reading === undefined || gone) return;
    // A poll from before a reload asked for something else, that of a silent application for nothing.
    if (!areSameSeries(reading.series, entry.series)) return;
    this.#find(watch, reading);
    if (pollSucceeded !== true) return;
    const count = this.#pollsOf(application.id, watch) + 1;
    this.#polls.set(application.id, { watch, count });
    if (count < enoughPolls || watch.hasBusyHosts || !isBusy(selected, reading)) return;
    watch.isBusy = true;
    watch.hasBusyHosts = reading.hosts.size > 0;
  }

  /** Judges. Must be called after each discovery, and after entries have changed. */
  followStates(): void {
    const awaited = this.#awaited();
    const found: MissingMetric[] = [];
    for (const [selector, watch] of this.#watches) {
      const isAwaited = awaited.get(watch);
      if (isAwaited === undefined) this.#forget(selector);
      else if (!isAwaited && found.length < mostAtOnce) found.push(...judge(watch));
    }
    if (found.length > 0) this.#tell(found, true);
  }

  /** The watches whose entries choose an application, and whether one of these has yet to be polled. */
  #awaited(): ReadonlyMap<EntryWatch, boolean> {
    const { all } = this.#dependencies.states;
    const awaited = new Map<EntryWatch, boolean>();
    for (const [id, state] of all) {
      const watch = this.#watchOf(state.selected.entry);
      if (watch === undefined) continue;
      const mayFind = mayBring(state) && this.#pollsOf(id, watch) < enoughPolls;
      awaited.set(watch, mayFind || awaited.get(watch) === true);
    }
    for (const [id, { watch }] of this.#polls) {
      if (!all.has(id) || watch.open.length === 0) this.#polls.delete(id);
    }
    return awaited;
  }

  #forget(selector: string): void {
    this.#watches.delete(selector);
    this.#missing = undefined;
  }

  /** None for an entry that asks for nothing but throughput and errors. */
  #watchOf(entry: AppEntry): EntryWatch | undefined {
    const selector = selectorText(entry.selector);
    const known = this.#watches.get(selector);
    if (known !== undefined && asksAlike(known.entry, entry)) return known;
    const open = watchedBy(entry, selector);
    if (open.length === 0) return undefined;
    const watch = { entry, open, missing: nothing, isBusy: false, hasBusyHosts: false };
    this.#watches.set(selector, watch);
    this.#missing = undefined;
    return watch;
  }

  #pollsOf(id: string, watch: EntryWatch): number {
    const polls = this.#polls.get(id);
    return polls?.watch === watch ? polls.count : 0;
  }

  #find(watch: EntryWatch, reading: AppReading): void {
    const { open, missing } = watch;
    watch.open = open.filter((one) => !hasValueOf(one, reading));
    if (watch.open.length === open.length || missing.size === 0) return;
    watch.missing = new Set(watch.open.filter((one) => missing.has(one)));
    const found = [...missing].filter((one) => !watch.missing.has(one));
    if (found.length > 0) this.#tell(namesOf(found), false);
  }

  #tell(metrics: readonly MissingMetric[], isMissing: boolean): void {
    this.#missing = undefined;
    this.#dependencies.log.metrics(metrics, isMissing);
  }
}

function namesOf(watched: readonly Watched[]): readonly MissingMetric[] {
  return watched.map(({ named }) => named);
}

function asksAlike(left: AppEntry, right: AppEntry): boolean {
  if (left === right) return true;
  const isSameScope =
    left.application === right.application && (left.hosts === false) === (right.hosts === false);
  return isSameScope && areSameSeries(left.series, right.series);
}

/** Their names are right by construction, and an application without requests or errors is no mistake. */
const unwatched: ReadonlySet<PresetName | undefined> = new Set(['throughput', 'errors']);

function watchedBy(entry: AppEntry, selector: string): readonly Watched[] {
  const watched = new Map<string, Watched>();
  for (const [index, series] of entry.series.entries()) {
    const { gauge, metric, value, preset, scope } = series;
    const ofApplication = entry.application && isReadOf('applications', series);
    const isRead = ofApplication || (entry.hosts !== false && isReadOf('hosts', series));
    if (unwatched.has(preset) || !isRead) continue;
    const name = scope === 'hosts' ? gauge.hostName : gauge.name;
    // Of a preset, one transaction type with values is enough.
    const key = preset === undefined ? String(index) : name;
    const known = watched.get(key);
    const metrics = known === undefined ? metric : `${known.named.metric}, ${metric}`;
    watched.set(key, {
      named: { selector, name, metric: metrics, value },
      indexes: [...(known?.indexes ?? []), index],
      ofHostsAlone: !ofApplication,
    });
  }
  return [...watched.values()];
}

/** Whether the reading has a value of the metric; 0 is one. */
function hasValueOf({ indexes }: Watched, { application, hosts }: AppReading): boolean {
  return [application, ...hosts.values()].some((values) =>
    indexes.some((index) => values[index] !== undefined),
  );
}

/** Whether the poll shows requests; or the list of applications, if the entry does not ask for throughput. */
function isBusy({ application }: SelectedApplication, reading: AppReading): boolean {
  const { series } = reading;
  if (!series.some(({ preset }) => preset === 'throughput')) {
    return (application.summary?.requestsPerMinute ?? 0) > 0;
  }
  return [reading.application, ...reading.hosts.values()].some((values) =>
    [...throughputOf(series, values).values()].some((value) => value > 0),
  );
}

/** Calls missing what is open, and returns what was not called so before. */
function judge(watch: EntryWatch): readonly MissingMetric[] {
  const { open, missing, isBusy: isEnough, hasBusyHosts } = watch;
  const found = open.filter(
    (one) => (one.ofHostsAlone ? hasBusyHosts : isEnough) && !missing.has(one),
  );
  if (found.length > 0) watch.missing = new Set([...missing, ...found]);
  return namesOf(found);
}

/** Whether its next poll may bring something: one that fails must not hold back the others. */
function mayBring({ gone, pollSucceeded, selected }: AppState): boolean {
  return !gone && pollSucceeded !== false && isWorthPolling(selected);
}
