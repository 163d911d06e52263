import { Counter, type Registry } from 'prom-client';

export interface AccountCounterOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** The labels beside `account`. */
  readonly labelNames: readonly Label[];
}

/** One series of a counter. */
export interface CounterSeries {
  add(by: number): void;
}

/** A counter whose series go away together with their account. */
export interface AccountCounter<Label extends string> {
  /** Makes the series exist. Whoever counts often keeps it: that spares the look at the labels. */
  series(labels: Readonly<Record<Label | 'account', string>>): CounterSeries;
  /** Adds `by`, 1 by default; 0 makes the series exist. */
  add(labels: Readonly<Record<Label | 'account', string>>, by?: number): void;
  removeAccount(account: string): void;
}

export function createAccountCounter<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: AccountCounterOptions<Label>,
): AccountCounter<Label> {
  type Labels = Readonly<Record<Label | 'account', string>>;
  type Series = CounterSeries & { readonly flush: () => void; readonly remove: () => void };
  // prom-client removes a series only by all of its labels.
  const seriesByAccount = new Map<string, Map<string, Series>>();
  const counter = new Counter<Label | 'account'>({
    name,
    help,
    labelNames: ['account' as const, ...labelNames],
    registers: [registry],
    // prom-client looks a series up by its labels on every count; here it does so once per page.
    collect: () => {
      for (const all of seriesByAccount.values()) for (const series of all.values()) series.flush();
    },
  });

  const createSeries = (labels: Labels): Series => {
    counter.inc(labels, 0);
    let uncollected = 0;
    return {
      add: (by) => {
        uncollected += by;
      },
      flush: () => {
        if (uncollected === 0) return;
        counter.inc(labels, uncollected);
        uncollected = 0;
      },
      remove: () => {
        counter.remove(labels);
      },
    };
  };

  const seriesOf = (labels: Labels): Series => {
    const ofAccount = seriesByAccount.get(labels.account) ?? new Map<string, Series>();
    seriesByAccount.set(labels.account, ofAccount);
    const key = JSON.stringify(labelNames.map((label) => labels[label]));
    const series = ofAccount.get(key) ?? createSeries(labels);
    ofAccount.set(key, series);
    return series;
  };

  return {
    series: seriesOf,
    add: (labels, by = 1) => {
      seriesOf(labels).add(by);
    },
    removeAccount: (account) => {
      for (const series of seriesByAccount.get(account)?.values() ?? []) series.remove();
      seriesByAccount.delete(account);
    },
  };
}
