import { Counter, Histogram, Registry } from 'prom-client';

/** A registry that renders a family again only after a change of it. */
export interface CachedRegistry {
  readonly registry: Registry;
  /** Must be called after every change of the family. */
  invalidate(name: string): void;
  text(): Promise<string>;
}

export function createCachedRegistry(): CachedRegistry {
  const registry = new Registry();
  const texts = new Map<string, Promise<string>>();
  return {
    registry,
    invalidate: (name) => {
      texts.delete(name);
    },
    text: async () => {
      const families = registry.getMetricsAsArray().map(async ({ name }) => {
        const text = texts.get(name) ?? familyOf(registry, name);
        texts.set(name, text);
        return text;
      });
      return (await Promise.all(families)).join('');
    },
  };
}

/**
 * All families in text format 0.0.4, without the blank lines of `registry.metrics()`. Bounds of buckets
 * are written as OpenMetrics asks for, `le="1.0"`, so that a series is the same in both formats.
 */
export async function textOf(registry: Registry): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  return (await Promise.all(names.map(async (name) => familyOf(registry, name)))).join('');
}

const wholeBucket = /\{le="(\d+)"/g;

async function familyOf(registry: Registry, name: string): Promise<string> {
  const text = `${await registry.getSingleMetricAsString(name)}\n`;
  const isHistogram = registry.getSingleMetric(name) instanceof Histogram;
  return isHistogram ? text.replaceAll(wholeBucket, '{le="$1.0"') : text;
}

/**
 * Guards the series of one account. A call that ends after its account was removed must not bring the
 * account's series back.
 */
export interface AccountScope {
  readonly account: string;
  /** Runs `write`, unless the scope is closed. */
  record(write: () => void): void;
  close(): void;
}

export function createAccountScope(account: string): AccountScope {
  let isClosed = false;
  return {
    account,
    record: (write) => {
      if (!isClosed) write();
    },
    close: () => {
      isClosed = true;
    },
  };
}

export interface CounterVecOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** The labels besides `account`. */
  readonly labelNames: readonly Label[];
}

/** One series of a counter. */
export interface CounterChild {
  inc(by: number): void;
}

/** A counter whose series can be removed by account alone. Every change invalidates its text. */
export interface CounterVec<Label extends string> {
  /** Creates the series if it is new. Frequent callers keep the child, which saves the lookup. */
  labels(labels: Readonly<Record<Label | 'account', string>>): CounterChild;
  /** Adds `by`, 1 by default; 0 creates the series. */
  inc(labels: Readonly<Record<Label | 'account', string>>, by?: number): void;
  removeAccount(account: string): void;
}

export function createCounterVec<Label extends string>(
  cached: CachedRegistry,
  { name, help, labelNames }: CounterVecOptions<Label>,
): CounterVec<Label> {
  type Labels = Readonly<Record<Label | 'account', string>>;
  type Child = CounterChild & { readonly flush: () => void; readonly remove: () => void };
  // prom-client removes a series only by all of its labels.
  const childrenByAccount = new Map<string, Map<string, Child>>();
  const counter = new Counter<Label | 'account'>({
    name,
    help,
    labelNames: ['account' as const, ...labelNames],
    registers: [cached.registry],
    // prom-client looks a series up by its labels at every count; this way it does so once per page.
    collect: () => {
      for (const children of childrenByAccount.values()) {
        for (const child of children.values()) child.flush();
      }
    },
  });

  const createChild = (labels: Labels): Child => {
    counter.inc(labels, 0);
    cached.invalidate(name);
    let uncollected = 0;
    return {
      inc: (by) => {
        if (by === 0) return;
        uncollected += by;
        cached.invalidate(name);
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

  const childOf = (labels: Labels): Child => {
    const children = childrenByAccount.get(labels.account) ?? new Map<string, Child>();
    childrenByAccount.set(labels.account, children);
    const key = JSON.stringify(labelNames.map((label) => labels[label]));
    const child = children.get(key) ?? createChild(labels);
    children.set(key, child);
    return child;
  };

  return {
    labels: childOf,
    inc: (labels, by = 1) => {
      childOf(labels).inc(by);
    },
    removeAccount: (account) => {
      for (const child of childrenByAccount.get(account)?.values() ?? []) child.remove();
      childrenByAccount.delete(account);
      cached.invalidate(name);
    },
  };
}

export interface HistogramVecOptions<Label extends string> extends CounterVecOptions<Label> {
  /** The upper bounds of the buckets, without infinity. */
  readonly buckets: readonly number[];
}

/** A histogram of which every change invalidates its text. */
export interface HistogramVec<Label extends string> {
  /** Looks the series up once, for frequent callers; it begins with the first value. */
  labels(labels: Readonly<Record<Label | 'account', string>>): (value: number) => void;
  remove(labels: Readonly<Record<Label | 'account', string>>): void;
}

export function createHistogramVec<Label extends string>(
  cached: CachedRegistry,
  { name, help, labelNames, buckets }: HistogramVecOptions<Label>,
): HistogramVec<Label> {
  const histogram = new Histogram<Label | 'account'>({
    name,
    help,
    labelNames: ['account' as const, ...labelNames],
    buckets: [...buckets],
    registers: [cached.registry],
  });
  return {
    labels: (labels) => {
      const series = histogram.labels(labels);
      return (value) => {
        series.observe(value);
        cached.invalidate(name);
      };
    },
    remove: (labels) => {
      histogram.remove(labels);
      cached.invalidate(name);
    },
  };
}
