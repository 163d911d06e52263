import type { Clock } from '../../model/clock.ts';
import type { Values } from '../../model/polled-series.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import type { SeriesGroup } from './call-groups.ts';

/** One after the other, so that the first polls find it out. */
const firstTrials = 3;
/** If a trial has failed, that says nothing. */
const failedMs = 10 * minuteMs;
/** What was found out may have changed: it may have been a passing fault. */
const foundOutMs = 6 * hourMs;

/** The values of one part of a poll, which was asked for in both ways. */
export interface TriedPart {
  readonly calls: readonly SeriesGroup[];
  readonly together: Values;
  readonly apart: Values;
}

/**
 * Whether New Relic's answers for several metrics are whole. It documents that it may leave out the values
 * of all metrics but the first, if not all have the same values. This is one fact of an account: believed
 * until values were left out that come otherwise. One part of one poll finds it out, and again six hours
 * later at the earliest.
 */
export class WholeAnswers {
  readonly #clock: Clock;
  readonly #onLeftOut: () => void;
  readonly #listeners = new Set<() => void>();
  #areWhole = true;
  /** Since `areWhole` has changed. */
  #trials = 0;
  #nextTrialMs = Number.NEGATIVE_INFINITY;

  /** @param onLeftOut called whenever values were left out, before `areWhole` changes */
  constructor(clock: Clock, onLeftOut: () => void) {
    this.#clock = clock;
    this.#onLeftOut = onLeftOut;
  }

  get areWhole(): boolean {
    return this.#areWhole;
  }

  /** Calls the listener whenever `areWhole` has changed. The returned function unsubscribes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Begins a trial, if one is due and a poll has an answer that shows something. Returns what part it is of.
   *
   * @param areWhole what the poll has assumed
   * @param callsOf the calls that ask for a part together
   */
  tryOne(
    areWhole: boolean,
    parts: ReadonlyMap<string, Values>,
    callsOf: (scope: string) => readonly SeriesGroup[],
  ): string | undefined {
    if (areWhole !== this.#areWhole || this.#clock.monotonicMs() < this.#nextTrialMs)
      return undefined;
    const shows = areWhole ? isDoubtful : isTelling;
    // Where values may have been left out, few have come.
    const [found] = [...parts]
      .filter(([scope, values]) => shows(callsOf(scope), values))
      .toSorted(([, one], [, other]) => valuesIn(one) - valuesIn(other));
    if (found !== undefined) this.#waitFor(failedMs);
    return found?.[0];
  }

  /** To be called when the part has been asked for in both ways. */
  tried({ calls, together, apart }: TriedPart): void {
    if (apart.some((value, at) => value !== undefined && together[at] === undefined)) {
      this.#onLeftOut();
      this.#set(false);
    } else if (isTelling(calls, apart)) {
      this.#set(true);
    }
    this.#trials += 1;
    const isInDoubt = this.#areWhole && !isTelling(calls, apart);
    this.#waitFor(isInDoubt && this.#trials < firstTrials ? 0 : foundOutMs);
  }

  #waitFor(waitMs: number): void {
    this.#nextTrialMs = this.#clock.monotonicMs() + waitMs;
  }

  #set(areWhole: boolean): void {
    if (areWhole === this.#areWhole) return;
    this.#areWhole = areWhole;
    this.#trials = 0;
    for (const listener of this.#listeners) listener();
  }
}

/** Whether values may have been left out of the answer to a call: there are those of a single kind. */
function isDoubtful(calls: readonly SeriesGroup[], values: Values): boolean {
  return calls.some(({ kinds }) => kinds.length > 1 && havingValues(kinds, values) === 1);
}

/** Whether a call would have to bring values of several kinds. */
function isTelling(calls: readonly SeriesGroup[], values: Values): boolean {
  return calls.some(({ kinds }) => havingValues(kinds, values) > 1);
}

function valuesIn(values: Values): number {
  return values.filter((value) => value !== undefined).length;
}

function havingValues(kinds: SeriesGroup['kinds'], values: Values): number {
  return kinds.filter((places) => places.some((place) => values[place] !== undefined)).length;
}
