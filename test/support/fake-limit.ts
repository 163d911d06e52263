import type { CallLimit } from '../../src/model/source.ts';

export interface FakeLimit extends CallLimit {
  /** Sets what may be sent, and tells the listeners. */
  change(perMinute: number): void;
  /** The demands that were told, in order. */
  readonly demands: readonly number[];
  /** A poller that has stopped leaves none. */
  listeners(): number;
}

/** What a key may send, to be changed at will. */
export function createFakeLimit(perMinute: number): FakeLimit {
  let current = perMinute;
  const listeners = new Set<() => void>();
  const demands: number[] = [];
  return {
    demands,
    limitPerMinute: () => current,
    onLimitChange: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    demand: (callsPerMinute) => {
      demands.push(callsPerMinute);
    },
    change: (next) => {
      current = next;
      for (const listener of listeners) listener();
    },
    listeners: () => listeners.size,
  };
}
