import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import { isReadOf, throughputOf } from '../model/polled-series.ts';
import type { PresetName } from '../model/presets.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { MissingMetric } from '../model/telemetry.ts';
import type { AppState } from './app-state.ts';

/** A metric of an entry. The gauge of a preset is one, whatever its transaction types. */
interface Watched {
  readonly named: MissingMetric;
  /** Where its values are in a reading. */
  readonly indexes: readonly number[];
  readonly ofHostsAlone: boolean;
}

interface EntryWatch {
  readonly entry: AppEntry;
  /** Whole polls by the id of the application. */
  readonly polls: Map<string, number>;
  /** What no application has had a value of so far, with what is called missing. */
  open: readonly Watched[];
  missing: readonly Watched[];
  /** Whether an application had requests in its second whole poll, or a later one; and hosts as well. */
  isBusy: boolean;
  hasBusyHosts: boolean;
}

const enoughPolls = 2;

/**
 * Finds the metrics of which no application of an entry ever had a value: a misspelt name must not look like
 * an idle application. An entry is judged once each of its applications that does not fail has had two whole
 * polls, if one of them had requests then. An entry that asks for something else begins anew.
 */
export class MetricWatch {
  /** By the selector. */
  readonly #watches = new Map<string, EntryWatch>();
  #missing: readonly MissingMetric[] | undefined;

  /** All missing metrics; the same array as long as nothing in it changes. */
  get missing(): readonly MissingMetric[] {
    this.#missing ??= [...this.#watches.values()].flatMap(({ missing }) =>
      missing.map(({ named }) => named),
    );
    return this.#missing;
  }

  polled({ selected, pollSucceeded, gone }: AppState, reading: AppReading | undefined): void {
    const { entry, application } = selected;
    const watch = this.#watchOf(entry);
    if (watch === undefined || watch.open.length === 0 || reading === undefined || gone) return;
    // A poll from before a reload asked for something else, that of a silent application for nothing.
    if (!isDeepStrictEqual(reading.series, entry.series)) return;
    watch.open = watch.open.filter((one) => !hasValueOf(one, reading));
    this.#call(watch, watch.missing);
    if (pollSucceeded !== true) return;
    const count = (watch.polls.get(application.id) ?? 0) + 1;
    watch.polls.set(application.id, count);
    if (count < enoughPolls || watch.hasBusyHosts || !isBusy(selected, reading)) return;
    watch.isBusy = true;
    watch.hasBusyHosts = reading.hosts.size > 0;
  }

  /**
   * Must be called after each discovery, and after entries have changed.
   *
   * @returns what was not called missing before
   */
  judge(states: ReadonlyMap<string, AppState>): readonly MissingMetric[] {
    const chosen = new Set<EntryWatch>();
    const awaited = new Set<EntryWatch>();
    for (const [id, state] of states) {
      const watch = this.#watchOf(state.selected.entry);
      if (watch === undefined) continue;
      chosen.add(watch);
      if (mayBring(state) && (watch.polls.get(id) ?? 0) < enoughPolls) awaited.add(watch);
    }
    const before = new Set(this.missing);
    for (const [selector, watch] of this.#watches) {
      for (const id of watch.polls.keys()) if (!states.has(id)) watch.polls.delete(id);
      if (!chosen.has(watch)) {
        this.#watches.delete(selector);
        this.#missing = undefined;
      } else if (!awaited.has(watch) && watch.missing.length < watch.open.length) {
        this.#call(
          watch,
          watch.open.filter((one) => (one.ofHostsAlone ? watch.hasBusyHosts : watch.isBusy)),
        );
      }
    }
    return this.missing.filter((one) => !before.has(one));
  }

  /** Calls missing those of them that are still open. */
  #call(watch: EntryWatch, wanted: readonly Watched[]): void {
    const missing = wanted.filter((one) => watch.open.includes(one));
    if (missing.length === watch.missing.length) return;
    watch.missing = missing;
    this.#missing = undefined;
  }

  /** None for an entry that asks for nothing but throughput and errors. */
  #watchOf(entry: AppEntry): EntryWatch | undefined {
    const selector = selectorText(entry.selector);
    const known = this.#watches.get(selector);
    if (known !== undefined && asksAlike(known.entry, entry)) return known;
    const open = watchedBy(entry, selector);
    if (open.length === 0) return undefined;
    const watch = {
      entry,
      polls: new Map(),
      open,
      missing: [],
      isBusy: false,
      hasBusyHosts: false,
    };
    this.#watches.set(selector, watch);
    this.#missing = undefined;
    return watch;
  }
}

function asksAlike(left: AppEntry, right: AppEntry): boolean {
  if (left === right) return true;
  const isSameScope =
    left.application === right.application && (left.hosts === false) === (right.hosts === false);
  return isSameScope && isDeepStrictEqual(left.series, right.series);
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

/** Whether its next poll may bring something: one that fails must not hold back the others. */
function mayBring({ gone, pollSucceeded, selected }: AppState): boolean {
  return !gone && pollSucceeded !== false && isWorthPolling(selected);
}
