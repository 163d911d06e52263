import type { CallLatency } from './call-latency.ts';

/** A call under way. Its request may be on the wire, or wait for the budget or for a retry. */
export interface InFlightCall<Owner> {
  readonly owner: Owner;
  /** When its last request left, or the call began. */
  sentMs: number;
  /** How long its last request took that has come back; 0 as long as none has. */
  tookMs: number;
  state: 'waiting' | 'on_wire' | 'slow';
  wasSent: boolean;
}

/** The calls that were started and have not ended. */
export interface InFlightCalls<Owner> {
  start(owner: Owner, nowMs: number): InFlightCall<Owner>;
  /** The request leaves now, or has come back. */
  onWire(call: InFlightCall<Owner>, isOnWire: boolean, nowMs: number): void;
  /** The call has ended. */
  end(call: InFlightCall<Owner>, nowMs: number, isAnswered: boolean): void;
  /** Calls that have become slow since the last look. */
  newlySlow(nowMs: number): readonly InFlightCall<Owner>[];
  /** Whether another call may start. */
  hasRoom(concurrency: number): boolean;
  /** When the next call becomes slow if it goes on; `undefined` when that makes no room. */
  nextSlowAtMs(concurrency: number): number | undefined;
}

/** A look must find the call slow, however the clock rounds. */
const afterSlowMs = 1;

/**
 * A slow call may be one that hangs and holds a connection, or one that will still be answered: so
 * that neither idles the others, up to half of `concurrency` slow ones are not counted. A call that
 * waits for its retry holds no connection.
 */
export function createInFlightCalls<Owner>(latency: CallLatency): InFlightCalls<Owner> {
  /** In the order in which they were sent, which is the order in which they become slow. */
  const onWire = new Set<InFlightCall<Owner>>();
  let all = 0;
  let slow = 0;
  let retrying = 0;

  const leaveWire = (call: InFlightCall<Owner>, nowMs: number): void => {
    if (call.state === 'waiting') return;
    if (call.state === 'slow') slow -= 1;
    else onWire.delete(call);
    call.state = 'waiting';
    call.tookMs = nowMs - call.sentMs;
  };

  const uncounted = (concurrency: number): number =>
    Math.min(retrying, concurrency) + Math.min(slow, concurrency / 2);

  return {
    start: (owner, nowMs) => {
      const call: InFlightCall<Owner> = {
        owner,
        sentMs: nowMs,
        tookMs: 0,
        state: 'waiting',
        wasSent: false,
      };
      all += 1;
      return call;
    },
    onWire: (call, isOnWire, nowMs) => {
      if (!isOnWire) {
        if (call.state === 'waiting') return;
        leaveWire(call, nowMs);
        retrying += 1;
        return;
      }
      if (call.state !== 'waiting') return;
      if (call.wasSent) retrying -= 1;
      call.sentMs = nowMs;
      call.state = 'on_wire';
      call.wasSent = true;
      onWire.add(call);
    },
    end: (call, nowMs, isAnswered) => {
      if (call.state !== 'waiting') leaveWire(call, nowMs);
      else if (call.wasSent) retrying -= 1;
      if (isAnswered && call.wasSent) latency.answered(call.tookMs);
      all -= 1;
    },
    newlySlow: (nowMs) => {
      const found: InFlightCall<Owner>[] = [];
      for (const call of onWire) {
        if (nowMs - call.sentMs <= latency.slowAfterMs()) break;
        onWire.delete(call);
        call.state = 'slow';
        slow += 1;
        found.push(call);
      }
      return found;
    },
    hasRoom: (concurrency) => all - uncounted(concurrency) < concurrency,
    nextSlowAtMs: (concurrency) => {
      if (slow >= concurrency / 2) return undefined;
      const [oldest] = onWire;
      return oldest && oldest.sentMs + latency.slowAfterMs() + afterSlowMs;
    },
  };
}
