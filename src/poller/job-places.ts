import type { CallTimes } from './call-times.ts';

/**
 * How many calls one job may have under way. It begins with few, gets one more for each call that
 * ends in usual time, and loses half for each that is slow: a job that is not answered soon holds
 * hardly any place, and one that is answered gets all it can use.
 */
export interface JobPlaces {
  running(): number;
  /** Calls that have been under way for unusually long. */
  slow(nowMs: number): number;
  /** Nothing ended in usual time since a call began that is, or was, slow. */
  isDoubtful(nowMs: number): boolean;
  hasRoom(nowMs: number): boolean;
  start(nowMs: number): PlaceTaken;
}

export interface PlaceTaken {
  /** The request leaves now, or has come back: what waits for the budget or for a retry is not slow. */
  onWire(isOnWire: boolean, nowMs: number): void;
  /** The call has ended, whatever came of it. */
  ended(nowMs: number): void;
  /** It was given up before it ended, which says only that it took as long as that. */
  givenUp(nowMs: number): void;
}

const firstPlaces = 2;

/** A call under way. */
interface Pending {
  /** When its last request left. */
  sentMs: number;
  isOnWire: boolean;
  /** How long the last request took that has come back. */
  tookMs: number;
}

function isSlow(
  { isOnWire, sentMs, tookMs }: Pending,
  nowMs: number,
  slowAfterMs: number,
): boolean {
  return (isOnWire ? nowMs - sentMs : tookMs) > slowAfterMs;
}

function setOnWire(call: Pending, isOnWire: boolean, nowMs: number): void {
  if (isOnWire) call.sentMs = nowMs;
  else if (call.isOnWire) call.tookMs = nowMs - call.sentMs;
  call.isOnWire = isOnWire;
}

/** @param wasDoubtful whether the job of the same kind before this one ended in doubt */
export function createJobPlaces(
  { concurrency, wasDoubtful }: { readonly concurrency: number; readonly wasDoubtful: boolean },
  times: CallTimes,
): JobPlaces {
  const pending = new Set<Pending>();
  let places = Math.min(firstPlaces, concurrency);
  let answeredMs = Number.NEGATIVE_INFINITY;
  let isInDoubt = wasDoubtful;

  const slowCalls = (nowMs: number): readonly Pending[] =>
    [...pending].filter((call) => isSlow(call, nowMs, times.slowAfterMs()));

  const isDoubtful = (nowMs: number): boolean =>
    isInDoubt || slowCalls(nowMs).some(({ sentMs }) => answeredMs < sentMs);

  const noteSlow = (sentMs: number): void => {
    if (answeredMs >= sentMs) return;
    places = 1;
    isInDoubt = true;
  };

  const noteAnswered = (nowMs: number): void => {
    answeredMs = nowMs;
    places = Math.min(concurrency, places + 1);
    isInDoubt = false;
  };

  return {
    running: () => pending.size,
    slow: (nowMs) => slowCalls(nowMs).length,
    isDoubtful,
    hasRoom: (nowMs) => {
      if (isDoubtful(nowMs)) return pending.size === 0;
      const slowNow = slowCalls(nowMs).length;
      return pending.size < Math.min(concurrency, slowNow + Math.max(1, places >> slowNow));
    },
    start: (startMs) => {
      const call = { sentMs: startMs, isOnWire: true, tookMs: 0 };
      pending.add(call);
      const onWire = (isOnWire: boolean, nowMs: number): void => {
        setOnWire(call, isOnWire, nowMs);
        if (!isOnWire && isSlow(call, nowMs, times.slowAfterMs())) noteSlow(call.sentMs);
      };
      const end = (nowMs: number): void => {
        onWire(false, nowMs);
        pending.delete(call);
      };
      return {
        onWire,
        ended: (nowMs) => {
          end(nowMs);
          if (!isSlow(call, nowMs, times.slowAfterMs())) noteAnswered(nowMs);
          times.ended(call.tookMs);
        },
        givenUp: end,
      };
    },
  };
}
