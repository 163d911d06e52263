/** A call that the vendor refused with 429; times are on the monotonic clock. */
export interface Refusal {
  /** When the call was sent. */
  readonly sentMs: number;
  /** Until when to stay away. */
  readonly untilMs: number;
  /** When the vendor's minute ends, if the answer says so. */
  readonly minuteEndMs: number | undefined;
  /** Calls a minute that the vendor allows all users of the key together. */
  readonly limitPerMinute: number;
}

/** The one budget of one account: every call to the vendor asks it first. */
export interface Pacer {
  /**
   * Waits for a place in the budget; urgent calls go before the others that wait. The returned
   * function gives the place back and must be called exactly once, when the call has ended: the
   * place is free again 60 seconds after that. Rejects with the signal's reason.
   */
  acquire(urgent: boolean, signal: AbortSignal): Promise<() => void>;
  /**
   * Lets no call go before the refusal's `untilMs`, unless a longer pause is in force, and asks for
   * less from then on.
   */
  refused(refusal: Refusal): void;
  /** Another budget from now on: what was sent in the last 60 seconds still counts. */
  resize(requestsPerMinute: number): void;
  /** When the pause ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
  /** Calls a minute that may be sent as soon as no pause is in force: the budget, or less after refusals. */
  allowedPerMinute(): number;
}
