/** The one budget of one account: every call to the vendor asks it first. */
export interface Pacer {
  /**
   * Waits for a place in the budget; urgent calls go before the others that wait. The returned
   * function gives the place back and must be called exactly once, when the call has ended: the
   * place is free again 60 seconds after that. Rejects with the signal's reason.
   */
  acquire(urgent: boolean, signal: AbortSignal): Promise<() => void>;
  /** Lets no call go before `monotonicMs`. An earlier time than the one in force changes nothing. */
  pauseUntil(monotonicMs: number): void;
  /** Another budget from now on: what was sent in the last 60 seconds still counts. */
  resize(requestsPerMinute: number): void;
  /** When the pause ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
}
