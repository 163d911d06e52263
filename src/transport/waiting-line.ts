interface Waiter<Place> {
  readonly urgent: boolean;
  readonly grant: (place: Place) => void;
}

/** Who waits for a place in the budget: in order of arrival, the urgent ones first. */
export interface WaitingLine<Place> {
  /** Resolves when the turn has come; rejects with the signal's reason, and is then out of line. */
  wait(urgent: boolean, signal: AbortSignal): Promise<Place>;
  /** Gives the place to the first in line; there must be one. */
  grantFirst(place: Place): void;
  size(): number;
}

export function createWaitingLine<Place>(): WaitingLine<Place> {
  const waiters: Waiter<Place>[] = [];

  const enter = (waiter: Waiter<Place>): void => {
    const firstPatient = waiter.urgent ? waiters.findIndex((other) => !other.urgent) : -1;
    if (firstPatient === -1) waiters.push(waiter);
    else waiters.splice(firstPatient, 0, waiter);
  };

  return {
    wait: async (urgent, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(signal.reason);
        };
        const waiter: Waiter<Place> = {
          urgent,
          grant: (place) => {
            signal.removeEventListener('abort', onAbort);
            resolve(place);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        enter(waiter);
      }),
    grantFirst: (place) => waiters.shift()?.grant(place),
    size: () => waiters.length,
  };
}
