import type { Clock } from '../model/clock.ts';
import { createTokenBucket } from '../model/token-bucket.ts';
import { type Budget, createBudget } from './budget.ts';
import type { Pacer } from './pacer.ts';

export interface PacerOptions {
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
}

interface Waiter {
  readonly urgent: boolean;
  readonly grant: () => void;
}

/** Lets calls go as the account's budget and the vendor's pauses allow, in order of arrival. */
export function createPacer(options: PacerOptions, { clock }: { readonly clock: Clock }): Pacer {
  const gate = createGate(options.requestsPerMinute, clock.monotonicMs());
  const queue = createQueue();
  let cancelTimer: (() => void) | undefined;

  const pump = (): void => {
    const nowMs = clock.monotonicMs();
    let waitMs = gate.blockedForMs(nowMs);
    while (waitMs === 0 && queue.grantFirst()) {
      gate.take();
      waitMs = gate.blockedForMs(nowMs);
    }
    if (queue.size() > 0 && cancelTimer === undefined && Number.isFinite(waitMs)) {
      cancelTimer = clock.after(Math.max(1, Math.ceil(waitMs)), () => {
        cancelTimer = undefined;
        pump();
      });
    }
  };

  const release = (): void => {
    gate.giveBack(clock.monotonicMs());
    pump();
  };

  const stopTimer = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  return {
    acquire: async (urgent, signal) => {
      signal.throwIfAborted();
      if (queue.size() === 0 && gate.blockedForMs(clock.monotonicMs()) === 0) {
        gate.take();
        return release;
      }
      const turn = queue.wait(urgent, signal);
      pump();
      try {
        await turn;
      } finally {
        if (queue.size() === 0) stopTimer();
      }
      return release;
    },
    pauseUntil: (monotonicMs) => {
      gate.pauseUntil(monotonicMs);
    },
    resize: (requestsPerMinute) => {
      gate.resize(requestsPerMinute);
      stopTimer();
      pump();
    },
    pausedUntilMs: () => gate.pausedUntilMs(clock.monotonicMs()),
  };
}

/** How long calls keep an even distance after a pause. */
const recoveryMs = 60_000;

/** The budget, and what the vendor's 429s add to it. */
interface Gate extends Budget {
  pauseUntil(monotonicMs: number): void;
  pausedUntilMs(nowMs: number): number | undefined;
}

/**
 * What a pause has held up goes out evenly in the minute after it: the vendor has just told us that
 * it has enough.
 */
function createGate(requestsPerMinute: number, startMs: number): Gate {
  const budget = createBudget(requestsPerMinute);
  let evenly = createTokenBucket(requestsPerMinute, startMs);
  let pausedUntil = Number.NEGATIVE_INFINITY;

  return {
    blockedForMs: (nowMs) => {
      if (nowMs < pausedUntil) return pausedUntil - nowMs;
      const waitMs = budget.blockedForMs(nowMs);
      const isRecovering = nowMs < pausedUntil + recoveryMs;
      return waitMs === 0 && isRecovering ? evenly.waitMs(nowMs) : waitMs;
    },
    take: () => {
      budget.take();
      evenly.take();
    },
    giveBack: (nowMs) => {
      budget.giveBack(nowMs);
    },
    resize: (next) => {
      budget.resize(next);
      evenly = createTokenBucket(next, startMs);
    },
    pauseUntil: (monotonicMs) => {
      if (monotonicMs <= pausedUntil) return;
      pausedUntil = monotonicMs;
      evenly.restart(monotonicMs);
    },
    pausedUntilMs: (nowMs) => (pausedUntil > nowMs ? pausedUntil : undefined),
  };
}

interface Queue {
  /** Resolves when the turn has come; rejects with the signal's reason, and is then out of line. */
  wait(urgent: boolean, signal: AbortSignal): Promise<void>;
  /** Whether there was somebody to let go. */
  grantFirst(): boolean;
  size(): number;
}

function createQueue(): Queue {
  const waiters: Waiter[] = [];

  const enter = (waiter: Waiter): void => {
    const firstPatient = waiter.urgent ? waiters.findIndex((other) => !other.urgent) : -1;
    if (firstPatient === -1) waiters.push(waiter);
    else waiters.splice(firstPatient, 0, waiter);
  };

  return {
    wait: async (urgent, signal) => {
      let granted = false;
      await new Promise<void>((resolve) => {
        const onAbort = (): void => {
          const index = waiters.indexOf(waiter);
          if (index !== -1) waiters.splice(index, 1);
          resolve();
        };
        const waiter: Waiter = {
          urgent,
          grant: () => {
            granted = true;
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        enter(waiter);
      });
      if (!granted) signal.throwIfAborted();
    },
    grantFirst: () => {
      const first = waiters.shift();
      first?.grant();
      return first !== undefined;
    },
    size: () => waiters.length,
  };
}
