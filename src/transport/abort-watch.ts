export interface AbortWatchOptions {
  /** Whether to listen to a signal on when no call is under way, as is best for one that comes again. */
  readonly keepsListening: boolean;
}

/** Tells calls when their signal is aborted; any number of them may share one. */
export interface AbortWatch {
  add(signal: AbortSignal, onAbort: () => void): void;
  remove(signal: AbortSignal, onAbort: () => void): void;
}

interface Watched {
  readonly waiting: (() => void)[];
  readonly listener: () => void;
}

/**
 * Listens to a signal once for all of its calls.
 *
 * A listener for every call costs more than it seems. Node.js keeps listeners in linked structures,
 * and leaves one that was removed pointing at those that come after it. As soon as a single removed
 * one has become old, the garbage collector's quick rounds take all later ones for alive, with their
 * calls and answers: that was a tenth of the CPU time of a call. (An array, because a `Set` that
 * is always in use has the same fault.)
 */
export function createAbortWatch({ keepsListening }: AbortWatchOptions): AbortWatch {
  const watched = new WeakMap<AbortSignal, Watched>();

  const watch = (signal: AbortSignal): Watched => {
    const waiting: (() => void)[] = [];
    const listener = (): void => {
      for (const onAbort of waiting.splice(0)) onAbort();
    };
    signal.addEventListener('abort', listener);
    const created = { waiting, listener };
    watched.set(signal, created);
    return created;
  };

  return {
    add: (signal, onAbort) => {
      const { waiting } = watched.get(signal) ?? watch(signal);
      waiting.push(onAbort);
    },
    remove: (signal, onAbort) => {
      const entry = watched.get(signal);
      if (entry === undefined) return;
      const index = entry.waiting.indexOf(onAbort);
      if (index !== -1) entry.waiting.splice(index, 1);
      if (keepsListening || entry.waiting.length > 0) return;
      signal.removeEventListener('abort', entry.listener);
      watched.delete(signal);
    },
  };
}
