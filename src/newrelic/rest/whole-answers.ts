import type { Clock } from '../../model/clock.ts';
import type { Values } from '../../model/polled-series.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import { type CallGroupsOf, createCallGroups, type SeriesGroup } from './call-groups.ts';

/** One after the other, so that the first polls find it out. */
const firstTrials = 3;
/** If a trial has failed, that says nothing. */
const failedMs = 10 * minuteMs;
/** What was found out may have changed: it may have been a passing fault. */
const foundOutMs = 6 * hourMs;

const kind = 'values_missing';
export const apartMessage = 'New Relic answers for one metric at a time';
const remedy =
  'each kind of metric takes a call of its own from now on: fewer of them in "metrics", or "source: nerdgraph", take fewer calls';

export interface WholeAnswersContext {
  readonly clock: Clock;
  readonly observer: Pick<ApiObserver, 'unexpected'>;
  readonly logger: Logger;
}

/**
 * Whether New Relic's answers for several metrics are whole. It documents that it may leave out the values of
 * all metrics but the first, if not all have the same values. This is one fact of an account: believed until
 * one part of one poll, asked for in both ways, shows otherwise.
 */
export class WholeAnswers {
  readonly #account: string;
  readonly #context: WholeAnswersContext;
  readonly callGroupsOf: CallGroupsOf = createCallGroups();
  #areWhole = true;
  #changes = 0;
  #trials = 0;
  #nextTrialMs = Number.NEGATIVE_INFINITY;

  /** @param account its name in the log */
  constructor(account: string, context: WholeAnswersContext) {
    this.#account = account;
    this.#context = context;
    context.observer.unexpected(kind, 0);
  }

  get areWhole(): boolean {
    return this.#areWhole;
  }

  /** How often that has changed. */
  get changes(): number {
    return this.#changes;
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
    const isDue = this.#context.clock.monotonicMs() >= this.#nextTrialMs;
    if (areWhole !== this.#areWhole || !isDue) return undefined;
    const shows = areWhole ? isDoubtful : isTelling;
    const found = [...parts].find(([scope, values]) => shows(callsOf(scope), values));
    if (found !== undefined) this.#waitFor(failedMs);
    return found?.[0];
  }

  /** Takes the values of that part, which was asked for in both ways. */
  tried(calls: readonly SeriesGroup[], together: Values, apart: Values): void {
    const areWhole = apart.every((value, at) => value === undefined || together[at] !== undefined);
    if (!areWhole) {
      const { observer, logger } = this.#context;
      observer.unexpected(kind, 1);
      // Every six hours it is found out again.
      if (this.#areWhole) logger.warn({ account: this.#account, kind, remedy }, apartMessage);
    }
    const isFoundOut = !areWhole || isTelling(calls, apart);
    if (isFoundOut && areWhole !== this.#areWhole) this.#changes += 1;
    if (isFoundOut) this.#areWhole = areWhole;
    this.#trials += 1;
    this.#waitFor(isFoundOut || this.#trials >= firstTrials ? foundOutMs : 0);
  }

  #waitFor(waitMs: number): void {
    this.#nextTrialMs = this.#context.clock.monotonicMs() + waitMs;
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

function havingValues(kinds: SeriesGroup['kinds'], values: Values): number {
  return kinds.filter((places) => places.some((place) => values[place] !== undefined)).length;
}
