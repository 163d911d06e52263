import type { Counter, Histogram } from 'prom-client';

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * Writes the series of one account, and remembers their labels: prom-client removes a series only by all of
 * them.
 */
export interface AccountSeries {
  /** Adds `by`, 1 by default; 0 creates the series. */
  inc<Label extends string>(counter: Counter<Label>, labels: Labels<Label>, by?: number): void;
  observe<Label extends string>(
    histogram: Histogram<Label>,
    labels: Labels<Label>,
    value: number,
  ): void;
  /** Removes all series. A call that ends after its account was removed brings none of them back. */
  close(): void;
}

export function createAccountSeries(): AccountSeries {
  /** By the labels, for each metric. */
  const removals = new Map<object, Map<string, () => void>>();
  let isClosed = false;

  const remember = <Label extends string>(
    metric: { remove(labels: Labels<Label>): void },
    labels: Labels<Label>,
  ): void => {
    const ofMetric = removals.get(metric) ?? new Map<string, () => void>();
    removals.set(metric, ofMetric);
    ofMetric.set(JSON.stringify(labels), () => metric.remove(labels));
  };

  return {
    inc: (counter, labels, by = 1) => {
      if (isClosed) return;
      remember(counter, labels);
      counter.inc(labels, by);
    },
    observe: (histogram, labels, value) => {
      if (isClosed) return;
      remember(histogram, labels);
      histogram.observe(labels, value);
    },
    close: () => {
      isClosed = true;
      for (const ofMetric of removals.values()) for (const remove of ofMetric.values()) remove();
      removals.clear();
    },
  };
}
