import type { Clock } from '../model/clock.ts';
import { createGate } from './gate.ts';
import type { Pacer } from './pacer.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface PacerOptions {
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
}

/** Lets calls go as the account's budget and the vendor's pauses allow, in order of arrival. */
export function createPacer(options: PacerOptions, { clock }: { readonly clock: Clock }): Pacer {
  const gate = createGate(options.requestsPerMinute, clock.monotonicMs());
  const line = createWaitingLine<() => void>();
  let cancelTimer: (() => void) | undefined;

  const takePlace = (): (() => void) => {
    const giveBack = gate.take(clock.monotonicMs());
    return () => {
      giveBack(clock.monotonicMs());
      pump();
    };
  };

  const pump = (): void => {
    const nowMs = clock.monotonicMs();
    let waitMs = gate.blockedForMs(nowMs);
    while (waitMs === 0 && line.size() > 0) {
      line.grantFirst(takePlace());
      waitMs = gate.blockedForMs(nowMs);
    }
    if (line.size() > 0 && cancelTimer === undefined && Number.isFinite(waitMs)) {
      cancelTimer = clock.after(Math.max(1, Math.ceil(waitMs)), () => {
        cancelTimer = undefined;
        pump();
      });
    }
  };

  const stopTimer = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  return {
    acquire: async (urgent, signal) => {
      signal.throwIfAborted();
      if (line.size() === 0 && gate.blockedForMs(clock.monotonicMs()) === 0) return takePlace();
      const turn = line.wait(urgent, signal);
      pump();
      try {
        return await turn;
      } finally {
        if (line.size() === 0) stopTimer();
      }
    },
    refused: (refusal) => {
      gate.refused(refusal);
    },
    resize: (requestsPerMinute) => {
      gate.resize(requestsPerMinute, clock.monotonicMs());
      stopTimer();
      pump();
    },
    pausedUntilMs: () => gate.pausedUntilMs(clock.monotonicMs()),
    allowedPerMinute: () => gate.allowedPerMinute(clock.monotonicMs()),
  };
}
