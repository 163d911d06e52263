import type { Clock } from '../model/clock.ts';
import type { PolledSeries } from '../model/polled-series.ts';
import { type CallGroups, callGroupsOf } from './call-groups.ts';

/** A metric of an application, or of one of its hosts, that is asked for alone. */
export interface LoneQuestion {
  readonly scope: keyof CallGroups;
  readonly applicationId: string;
  readonly metric: string;
}

/**
 * New Relic documents that an answer for several metrics may have only the values of the first of them,
 * if not all have the same values. Remembers for which metrics of an account that is so. They stay apart
 * for as long as the process runs, wherever they would be asked for together with such others.
 */
export interface SplitMetrics {
  /** The calls of a poll for these series. */
  callGroupsOf(series: readonly PolledSeries[]): CallGroups;
  /**
   * Whether to ask for a metric alone that came without values. True only a few times an hour, unless
   * it is known that it has values then: most such metrics have none. To be followed by `answered` or
   * `failed`.
   */
  shouldAsk(question: LoneQuestion): boolean;
  answered(question: LoneQuestion, hasValues: boolean): void;
  failed(question: LoneQuestion): void;
}

/** Called for every metric whose values came only when it was asked for alone. */
export type SplitListener = (question: LoneQuestion) => void;

/** Applications in an hour, for each metric and scope: one of them may happen to have no values. */
const mostQuestions = 3;
const hourMs = 3_600_000;
/** Trouble with New Relic says nothing about the metric. */
const afterFailureMs = 60_000;
/** Metrics of former configurations give way to new ones. */
const mostMetrics = 10_000;

export function createSplitMetrics(
  { clock }: { readonly clock: Clock },
  onSplit: SplitListener,
): SplitMetrics {
  const split = new Set<string>();
  let groups = new WeakMap<readonly PolledSeries[], CallGroups>();
  /** Until when an application is not asked again, by metric and scope. */
  const asked = new Map<string, Map<string, number>>();

  const askedOf = ({ scope, metric }: LoneQuestion): Map<string, number> => {
    const key = `${scope} ${metric}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    const none = new Map<string, number>();
    if (asked.size >= mostMetrics) forgetFirst(asked);
    asked.set(key, none);
    return none;
  };

  return {
    callGroupsOf: (series) => {
      const known = groups.get(series);
      if (known !== undefined) return known;
      const made = callGroupsOf(series, (metric) => split.has(metric));
      groups.set(series, made);
      return made;
    },

    shouldAsk: (question) => {
      if (split.has(question.metric)) return true;
      const untilMs = askedOf(question);
      const nowMs = clock.monotonicMs();
      for (const [id, endMs] of untilMs) if (endMs <= nowMs) untilMs.delete(id);
      if (untilMs.size >= mostQuestions || untilMs.has(question.applicationId)) return false;
      untilMs.set(question.applicationId, nowMs + hourMs);
      return true;
    },

    answered: (question, hasValues) => {
      if (!hasValues) return;
      askedOf(question).delete(question.applicationId);
      if (!split.has(question.metric)) {
        if (split.size >= mostMetrics) forgetFirst(split);
        split.add(question.metric);
        groups = new WeakMap();
      }
      onSplit(question);
    },

    failed: (question) => {
      if (split.has(question.metric)) return;
      askedOf(question).set(question.applicationId, clock.monotonicMs() + afterFailureMs);
    },
  };
}

function forgetFirst(known: Set<string> | Map<string, unknown>): void {
  const { value } = known.keys().next();
  if (value !== undefined) known.delete(value);
}
