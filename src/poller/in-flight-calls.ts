/** A call in flight. Its request is on the wire, or waits for the budget or for a retry. */
export interface InFlightCall<Owner> {
  readonly owner: Owner;
  /** When its last request left; before that, when the call began. */
  sentMs: number;
  /** How long the last request took that has come back; 0 if none has. */
  tookMs: number;
  state: 'waiting' | 'on_wire' | 'slow';
  wasSent: boolean;
}

/**
 * The calls that hold the slots of an account, of which there are `concurrency`.
 *
 * A slow call may hang and block a connection, or it may still be answered. So that slow calls do
 * not idle everything else, up to `concurrency / 2` of them are not counted. A call that waits for
 * its retry holds no connection, and so no slot. A call is slow when its request takes four times
 * as long as the median, and at least a second.
 */
export interface InFlightCalls<Owner> {
  start(owner: Owner, nowMs: number): InFlightCall<Owner>;
  /** The request leaves now, or has come back. */
  onWire(call: InFlightCall<Owner>, isOnWire: boolean, nowMs: number): void;
  /** The call has ended. */
  end(call: InFlightCall<Owner>, nowMs: number, isAnswered: boolean): void;
  /** The calls that have become slow since the last time. */
  newlySlow(nowMs: number): readonly InFlightCall<Owner>[];
  /** Whether another call may start. */
  hasRoom(concurrency: number): boolean;
  /**
   * When the next call becomes slow, if it is still in flight; `undefined` when that would make no
   * room.
   */
  nextSlowAtMs(concurrency: number): number | undefined;
}

/** Makes sure that the call counts as slow at that time, however the clock rounds. */
const afterSlowMs = 1;

export function createInFlightCalls<Owner>(latency: CallLatency): InFlightCalls<Owner> {
  return new TimedCalls<Owner>(latency);
}

class TimedCalls<Owner> implements InFlightCalls<Owner> {
  readonly #latency: CallLatency;
  /** In the order in which they were sent, and so in which they become slow. */
  readonly #onWire = new Set<InFlightCall<Owner>>();
  #all = 0;
  #slow = 0;
  #retrying = 0;

  constructor(latency: CallLatency) {
    this.#latency = latency;
  }

  start(owner: Owner, nowMs: number): InFlightCall<Owner> {
    this.#all += 1;
    return { owner, sentMs: nowMs, tookMs: 0, state: 'waiting', wasSent: false };
  }

  onWire(call: InFlightCall<Owner>, isOnWire: boolean, nowMs: number): void {
    if (isOnWire === (call.state !== 'waiting')) return;
    if (!isOnWire) {
      this.#leaveWire(call, nowMs);
      this.#retrying += 1;
      return;
    }
    if (call.wasSent) this.#retrying -= 1;
    call.sentMs = nowMs;
    call.state = 'on_wire';
    call.wasSent = true;
    this.#onWire.add(call);
  }

  end(call: InFlightCall<Owner>, nowMs: number, isAnswered: boolean): void {
    if (call.state !== 'waiting') this.#leaveWire(call, nowMs);
    else if (call.wasSent) this.#retrying -= 1;
    if (isAnswered && call.wasSent) this.#latency.answered(call.tookMs);
    this.#all -= 1;
  }

  newlySlow(nowMs: number): readonly InFlightCall<Owner>[] {
    const found: InFlightCall<Owner>[] = [];
    for (const call of this.#onWire) {
      if (nowMs - call.sentMs <= this.#latency.slowAfterMs()) break;
      this.#onWire.delete(call);
      call.state = 'slow';
      this.#slow += 1;
      found.push(call);
    }
    return found;
  }

  hasRoom(concurrency: number): boolean {
    const uncounted = Math.min(this.#retrying, concurrency) + Math.min(this.#slow, concurrency / 2);
    return this.#all - uncounted < concurrency;
  }

  nextSlowAtMs(concurrency: number): number | undefined {
    if (this.#slow >= concurrency / 2) return undefined;
    const [oldest] = this.#onWire;
    return oldest && oldest.sentMs + this.#latency.slowAfterMs() + afterSlowMs;
  }

  #leaveWire(call: InFlightCall<Owner>, nowMs: number): void {
    if (call.state === 'slow') this.#slow -= 1;
    else this.#onWire.delete(call);
    call.state = 'waiting';
    call.tookMs = nowMs - call.sentMs;
  }
}

/** How long answers usually take, and so from when on a request is slow. */
export interface CallLatency {
  /** A request that has been on the wire for longer is slow. */
  slowAfterMs(): number;
  /** The mean of the requests that were not slow; `undefined` before the first of them. */
  meanMs(): number | undefined;
  /** A request was answered. */
  answered(durationMs: number): void;
}

const firstGuessMs = 250;
/** A request is slow when it takes this many times as long as the median, */
const slowFactor = 4;
/** but never before it took this long. */
const leastSlowMs = 1000;
/** The factor by which one request moves the median. */
const step = 1.2;
const bounds = { leastMs: 1, mostMs: 60_000 };
/** The mean follows about this many of the last requests. */
const meanRequests = 100;

/**
 * A running median: one step up for each answer that took longer, one step down for each that took
 * less. A few slow answers do not move it; a vendor that is slow for everybody does. The mean says
 * how many requests a connection can carry. Requests that are never answered do not count, however
 * many they are.
 */
export function createCallLatency(): CallLatency {
  let medianMs = firstGuessMs;
  let meanMs: number | undefined;
  let counted = 0;

  const slowAfterMs = (): number => Math.max(leastSlowMs, slowFactor * medianMs);

  return {
    slowAfterMs,
    meanMs: () => meanMs,
    answered: (durationMs) => {
      const next = durationMs > medianMs ? medianMs * step : medianMs / step;
      medianMs = Math.min(bounds.mostMs, Math.max(bounds.leastMs, next));
      if (durationMs > slowAfterMs()) return;
      counted = Math.min(meanRequests, counted + 1);
      meanMs = (meanMs ?? durationMs) + (durationMs - (meanMs ?? durationMs)) / counted;
    },
  };
}
