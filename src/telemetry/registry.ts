import { Counter, Registry } from 'prom-client';

/** A registry whose text is rendered again only after a change. */
export interface CachedRegistry {
  readonly registry: Registry;
  /** Must be called after every change. */
  invalidate(): void;
  text(): Promise<string>;
}

export function createCachedRegistry(): CachedRegistry {
  const registry = new Registry();
  let version = 0;
  let cached: { readonly version: number; readonly text: Promise<string> } | undefined;
  return {
    registry,
    invalidate: () => {
      version += 1;
    },
    text: async () => {
      if (cached?.version !== version) cached = { version, text: textOf(registry) };
      return cached.text;
    },
  };
}

const wholeBucket = /\{le="(\d+)"/g;

/**
 * All families in text format 0.0.4, without the blank lines of `registry.metrics()`. Bounds of buckets
 * are written as OpenMetrics asks for, `le="1.0"`, so that a series is the same in both formats.
 */
export async function textOf(registry: Registry): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const families = await Promise.all(
    names.map(async (name) => registry.getSingleMetricAsString(name)),
  );
  return families.map((family) => `${family.replaceAll(wholeBucket, '{le="$1.0"')}\n`).join('');
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

/** A counter whose series can be removed by account alone. Every change invalidates its registry. */
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
    cached.invalidate();
    let uncollected = 0;
    return {
      inc: (by) => {
        if (by === 0) return;
        uncollected += by;
        cached.invalidate();
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
      cached.invalidate();
    },
  };
}
