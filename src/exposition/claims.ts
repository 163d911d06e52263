/** Who may publish series with the same labels: the first that asked, and after it the next. */
export interface Claims<Owner> {
  /** Returns whether the owner may publish; otherwise it waits. Asking again changes nothing. */
  claim(labels: string, owner: Owner): boolean;
  /** Gives up, or waits no longer. Returns who may publish from now on and could not before. */
  release(labels: string, owner: Owner): Owner | undefined;
}

export function createClaims<Owner>(): Claims<Owner> {
  const holders = new Map<string, Owner>();
  const waiting = new Map<string, Set<Owner>>();

  const stopWaiting = (labels: string, owner: Owner): void => {
    const queue = waiting.get(labels);
    queue?.delete(owner);
    if (queue?.size === 0) waiting.delete(labels);
  };

  return {
    claim: (labels, owner) => {
      const holder = holders.get(labels) ?? owner;
      holders.set(labels, holder);
      if (holder === owner) return true;
      const queue = waiting.get(labels) ?? new Set();
      waiting.set(labels, queue.add(owner));
      return false;
    },
    release: (labels, owner) => {
      if (holders.get(labels) !== owner) {
        stopWaiting(labels, owner);
        return undefined;
      }
      const [next] = waiting.get(labels) ?? [];
      if (next === undefined) {
        holders.delete(labels);
      } else {
        holders.set(labels, next);
        stopWaiting(labels, next);
      }
      return next;
    },
  };
}
