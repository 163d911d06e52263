import { Counter, Registry } from 'prom-client';

/** A registry whose text is rendered again only when something in it has changed. */
export interface RenderedRegistry {
  readonly registry: Registry;
  /** Must be called after every change. */
  changed(): void;
  text(): Promise<string>;
}

export function createRenderedRegistry(): RenderedRegistry {
  const registry = new Registry();
  let version = 0;
  let rendered: { readonly version: number; readonly text: Promise<string> } | undefined;
  return {
    registry,
    changed: () => {
      version += 1;
    },
    text: async () => {
      if (rendered?.version !== version) rendered = { version, text: registry.metrics() };
      return rendered.text;
    },
  };
}

/**
 * The time in which an account is observed. A call that ends after its account was removed must not
 * bring the account's series back.
 */
export interface AccountLifetime {
  readonly account: string;
  /** Runs `write`, unless the account was removed. */
  record(write: () => void): void;
  end(): void;
}

/** `onRecord` is called after every `write` that was run. */
export function createAccountLifetime(account: string, onRecord: () => void): AccountLifetime {
  let hasEnded = false;
  return {
    account,
    record: (write) => {
      if (hasEnded) return;
      write();
      onRecord();
    },
    end: () => {
      hasEnded = true;
    },
  };
}

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
