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
  return new TimedCalls<Owner>(latency);
}

class TimedCalls<Owner> implements InFlightCalls<Owner> {
  readonly #latency: CallLatency;
  /** In the order in which they were sent, which is the order in which they become slow. */
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

/** How long answers usually take, and so which requests take unusually long. */
export interface CallLatency {
  /** A request that has been on the wire for longer is slow. */
  slowAfterMs(): number;
  /** The mean of the requests that were not slow; `undefined` before the first. */
  meanMs(): number | undefined;
  /** A request was answered. */
  answered(durationMs: number): void;
}

const firstGuessMs = 250;
/** Slow is what takes so many times as long as usual, */
const slowFactor = 4;
/** but nothing that takes less than this. */
const leastSlowMs = 1000;
/** How far one request moves the median. */
const step = 1.2;
const bounds = { leastMs: 1, mostMs: 60_000 };
/** The mean follows about so many of the last requests. */
const meanRequests = 100;

/**
 * What is usual is a running median: one step up for each answer that took longer, one down for each
 * that took less. A few slow answers do not move it; a vendor that is slow for everybody does. The
 * mean tells how many requests a connection can carry. Requests that are never answered tell nothing,
 * however many they are.
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
