/** Decides who may publish series with certain labels: the first that claimed them, then the next. */
export interface Claims<Owner> {
  /** Returns whether the owner may publish; otherwise it waits. Claiming again changes nothing. */
  claim(labels: string, owner: Owner): boolean;
  /** Gives up the labels or the wait for them. Returns the owner that may publish from now on, if new. */
  release(labels: string, owner: Owner): Owner | undefined;
}

/** A queue for each set of labels; the first in it may publish. */
export function createClaims<Owner>(): Claims<Owner> {
  const queues = new Map<string, Set<Owner>>();
  return {
    claim: (labels, owner) => {
      const queue = queues.get(labels) ?? new Set();
      queues.set(labels, queue.add(owner));
      const [holder] = queue;
      return holder === owner;
    },
    release: (labels, owner) => {
      const queue = queues.get(labels) ?? new Set();
      const [holder] = queue;
      queue.delete(owner);
      if (queue.size === 0) queues.delete(labels);
      const [next] = queue;
      return holder === owner ? next : undefined;
    },
  };
}
