import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import { isReadOf, valuesByTransaction } from '../model/polled-series.ts';
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

/** What is known about the metrics of one entry. */
interface EntryWatch {
  /** What no application has had a value of so far. */
  open: readonly Watched[];
  readonly polled: Set<string>;
  /** Whether an application had requests in such a poll; and hosts as well. */
  isBusy: boolean;
  hasBusyHosts: boolean;
}

/**
 * Finds the metrics of which no application of an entry ever had a value: a misspelt name must not look
 * like an idle application. An entry is judged at a discovery, once each of its applications that does
 * not fail has had a whole poll, if one of them had requests then. An entry that asks for something else
 * begins anew.
 */
export class MetricWatch {
  #watches: ReadonlyMap<AppEntry, EntryWatch> = new Map();
  #missing: readonly MissingMetric[] = [];

  /** All missing metrics. */
  get missing(): readonly MissingMetric[] {
    return this.#missing;
  }

  polled({ selected, pollSucceeded, gone }: AppState, reading: AppReading | undefined): void {
    const { entry, application } = selected;
    const watch = this.#watches.get(entry);
    if (watch === undefined || watch.open.length === 0 || reading === undefined || gone) return;
    // A poll from before a reload asked for something else, that of a silent application for nothing.
    if (!isDeepStrictEqual(reading.series, entry.series)) return;
    const found = watch.open.filter((one) => hasValueOf(one, reading));
    if (found.length > 0) {
      watch.open = watch.open.filter((one) => !found.includes(one));
      this.#missing = this.#missing.filter((named) => !found.some((one) => one.named === named));
    }
    if (pollSucceeded !== true) return;
    watch.polled.add(application.id);
    if (watch.hasBusyHosts || !isBusy(selected, reading)) return;
    watch.isBusy = true;
    watch.hasBusyHosts = reading.hosts.size > 0;
  }

  /**
   * Must be called after each discovery, and after entries have changed.
   *
   * @returns what was not called missing before
   */
  judge(states: ReadonlyMap<string, AppState>): readonly MissingMetric[] {
    const known = new Map([...this.#watches].map((one) => [selectorText(one[0].selector), one]));
    const watches = new Map<AppEntry, EntryWatch>();
    const awaited = new Set<EntryWatch>();
    for (const [id, state] of states) {
      const { entry } = state.selected;
      const watch =
        watches.get(entry) ?? watchAfter(known.get(selectorText(entry.selector)), entry);
      watches.set(entry, watch);
      if (mayBring(state) && !watch.polled.has(id)) awaited.add(watch);
    }
    this.#watches = watches;
    const before = new Set(this.#missing);
    this.#missing = [...watches.values()].flatMap((watch) => {
      for (const id of watch.polled) if (!states.has(id)) watch.polled.delete(id);
      const isMissing = ({ named, ofHostsAlone }: Watched): boolean => {
        if (awaited.has(watch)) return before.has(named);
        return ofHostsAlone ? watch.hasBusyHosts : watch.isBusy;
      };
      return watch.open.filter(isMissing).map(({ named }) => named);
    });
    return this.#missing.filter((one) => !before.has(one));
  }
}

/** What is known of an entry survives a reload that leaves it as it is. */
function watchAfter(
  known: readonly [AppEntry, EntryWatch] | undefined,
  entry: AppEntry,
): EntryWatch {
  if (known !== undefined && asksAlike(known[0], entry)) return known[1];
  const open = watchedBy(entry);
  return { open, polled: new Set(), isBusy: false, hasBusyHosts: false };
}

function asksAlike(left: AppEntry, right: AppEntry): boolean {
  const isSameScope =
    left.application === right.application && (left.hosts === false) === (right.hosts === false);
  return left === right || (isSameScope && isDeepStrictEqual(left.series, right.series));
}

/** Their names are right by construction, and an application without requests or errors is no mistake. */
const unwatched: ReadonlySet<PresetName | undefined> = new Set(['throughput', 'errors']);

function watchedBy(entry: AppEntry): readonly Watched[] {
  const selector = selectorText(entry.selector);
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
    [...valuesByTransaction('throughput', series, values).values()].some((value) => value > 0),
  );
}

/** Whether its next poll may bring something: one that fails must not hold back the others. */
function mayBring({ gone, pollSucceeded, selected }: AppState): boolean {
  return !gone && pollSucceeded !== false && isWorthPolling(selected);
}
