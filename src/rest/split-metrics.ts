import type { Clock } from '../model/clock.ts';
import type { PolledSeries } from '../model/polled-series.ts';
import { type CallGroups, callGroupsOf } from './call-groups.ts';

/** A metric of an application, or of one of its hosts, that is asked for alone. */
export interface LoneQuestion {
  readonly scope: keyof CallGroups;
  readonly applicationId: string;
  readonly metric: string;
}

/** Called for every metric whose values came only when it was asked for alone. */
export type SplitListener = (question: LoneQuestion) => void;

/** Applications in an hour, for each metric and scope: one of them may happen to have no values. */
const mostQuestions = 3;
const hourMs = 3_600_000;
/** By then the others had a turn: the same ones may have no values every hour. */
const dayMs = 24 * hourMs;
/**
 * Trouble with New Relic says nothing about the metric. But if the question itself is the trouble, most polls
 * must do without it: one that fails with it is held back.
 */
const afterFailureMs = 600_000;
const apartMs = 6 * hourMs;
/** Metrics of former configurations give way to new ones. */
const mostMetrics = 10_000;

/** A question about one application. */
interface Asked {
  /** Until when it is one of `mostQuestions`. */
  readonly countsUntilMs: number;
  /** When the application may be asked again. */
  readonly againMs: number;
}

/**
 * New Relic documents that an answer for several metrics may have only the values of the first of them,
 * if not all have the same values. Remembers for which metrics of an account that is so: they stay apart
 * wherever they would be asked for together with such others. Every few hours one poll tries them
 * together, since it may have been a passing fault, and each costs a call with every host.
 */
export class SplitMetrics {
  readonly #clock: Clock;
  readonly #onSplit: SplitListener;
  /** Until when each metric stays apart. */
  readonly #split = new Map<string, number>();
  /** Questions about applications, by metric and scope. */
  readonly #asked = new Map<string, Map<string, Asked>>();
  #groups = new WeakMap<readonly PolledSeries[], CallGroups>();

  constructor(clock: Clock, onSplit: SplitListener) {
    this.#clock = clock;
    this.#onSplit = onSplit;
  }

  /** The calls that polls usually take for these series. */
  callGroupsOf(series: readonly PolledSeries[]): CallGroups {
    const known = this.#groups.get(series);
    if (known !== undefined) return known;
    const made = callGroupsOf(series, (metric) => this.#split.has(metric));
    this.#groups.set(series, made);
    return made;
  }

  /** The calls of a poll that begins now. */
  callGroupsNow(series: readonly PolledSeries[]): CallGroups {
    const nowMs = this.#clock.monotonicMs();
    const tried = new Set<string>();
    for (const { metric } of this.#split.size === 0 ? [] : series) {
      if ((this.#split.get(metric) ?? nowMs) < nowMs) tried.add(metric);
    }
    if (tried.size === 0) return this.callGroupsOf(series);
    // No other poll tries them until it is known what comes of this one.
    for (const metric of tried) this.#split.set(metric, nowMs + apartMs);
    return callGroupsOf(series, (metric) => this.#split.has(metric) && !tried.has(metric));
  }

  /**
   * Whether to ask for a metric alone that came without values. True only a few times an hour, unless
   * it is known that it has values then: most such metrics have none. To be followed by `answered` or
   * `failed`.
   */
  shouldAsk(question: LoneQuestion): boolean {
    if (this.#split.has(question.metric)) return true;
    const asked = this.#askedAbout(question);
    const nowMs = this.#clock.monotonicMs();
    let lately = 0;
    for (const [id, { countsUntilMs, againMs }] of asked) {
      if (againMs <= nowMs) asked.delete(id);
      else if (countsUntilMs > nowMs) lately += 1;
    }
    if (lately >= mostQuestions || asked.has(question.applicationId)) return false;
    asked.set(question.applicationId, { countsUntilMs: nowMs + hourMs, againMs: nowMs + dayMs });
    return true;
  }

  answered(question: LoneQuestion, hasValues: boolean): void {
    if (!hasValues) return;
    const { metric, applicationId } = question;
    this.#askedAbout(question).delete(applicationId);
    if (!this.#split.has(metric)) {
      if (this.#split.size >= mostMetrics) forgetFirst(this.#split);
      this.#split.set(metric, this.#clock.monotonicMs() + apartMs);
      this.#groups = new WeakMap();
    }
    this.#onSplit(question);
  }

  failed(question: LoneQuestion): void {
    if (this.#split.has(question.metric)) return;
    const againMs = this.#clock.monotonicMs() + afterFailureMs;
    this.#askedAbout(question).set(question.applicationId, { countsUntilMs: againMs, againMs });
  }

  /** An answer for several metrics, not all of which have the same values, had values of these. */
  cameTogether(metrics: readonly string[]): void {
    // The first one has values in any case.
    if (metrics.length < 2) return;
    const joined = metrics.filter((metric) => this.#split.delete(metric));
    if (joined.length > 0) this.#groups = new WeakMap();
  }

  #askedAbout({ scope, metric }: LoneQuestion): Map<string, Asked> {
    const key = `${scope} ${metric}`;
    const known = this.#asked.get(key);
    if (known !== undefined) return known;
    const none = new Map<string, Asked>();
    if (this.#asked.size >= mostMetrics) forgetFirst(this.#asked);
    this.#asked.set(key, none);
    return none;
  }
}

function forgetFirst(known: Map<string, unknown>): void {
  const { value } = known.keys().next();
  if (value !== undefined) known.delete(value);
}
