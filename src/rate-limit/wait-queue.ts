export interface WaitOptions {
  /** Whether it goes before all that are not urgent. */
  readonly urgent: boolean;
  /** Who waits: `evict` names it. */
  readonly owner: object;
}

interface Waiter<Item> extends WaitOptions {
  /** Ends the wait with the item, or without one. */
  readonly settle: (item: Item | undefined) => void;
}

/** A priority queue of callers that wait for an item: urgent ones first, then in order of arrival. */
export interface WaitQueue<Item> {
  /**
   * Resolves with the caller's item, or with `undefined` if its owner was evicted. Rejects with the
   * signal's reason; the caller is out of the queue then.
   */
  wait(options: WaitOptions, signal: AbortSignal): Promise<Item | undefined>;
  /** Gives the item to the first caller; there must be one. */
  dequeue(item: Item): void;
  /** Ends the wait of all callers of an owner, without an item. */
  evict(owner: object): void;
  size(): number;
}

export function createWaitQueue<Item>(): WaitQueue<Item> {
  const urgent: Waiter<Item>[] = [];
  const normal: Waiter<Item>[] = [];

  return {
    wait: async (options, signal) =>
      new Promise((resolve, reject) => {
        const queue = options.urgent ? urgent : normal;
        const onAbort = (): void => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(signal.reason);
        };
        const waiter: Waiter<Item> = {
          ...options,
          settle: (item) => {
            signal.removeEventListener('abort', onAbort);
            resolve(item);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.push(waiter);
      }),
    dequeue: (item) => {
      (urgent.shift() ?? normal.shift())?.settle(item);
    },
    evict: (owner) => {
      for (const queue of [urgent, normal]) {
        const all = queue.splice(0);
        queue.push(...all.filter((waiter) => waiter.owner !== owner));
        for (const waiter of all) if (waiter.owner === owner) waiter.settle(undefined);
      }
    },
    size: () => urgent.length + normal.length,
  };
}
