import { dateOf } from './http-date.ts';
import type { ApiResponse } from './transport.ts';

/** The vendor's clock, as far as the `Date` of its answers tells; our own times are monotonic. */
export interface VendorClock {
  /** Learns from an answer that has just arrived. */
  answered(headers: ApiResponse['headers'], nowMs: number): void;
  /**
   * When an answer was given that arrives now: often much earlier than it arrives, but not before
   * its request was sent.
   */
  givenAtMs(headers: ApiResponse['headers'], sentMs: number, nowMs: number): number;
  /** What the vendor's clock shows now, to about a second; `undefined` as long as nothing is known. */
  wallMs(nowMs: number): number | undefined;
}

/** How long the answer with the shortest way counts; after twice that it is forgotten. */
const generationMs = 5 * 60_000;
/** An odd answer, such as an old one out of a cache, must not set the clock. */
const fewestAnswers = 3;
const recentAnswers = 9;

/** The least offset found in the generation that began at `sinceMs`. */
interface Generation {
  readonly sinceMs: number;
  readonly leastMs: number;
}

export function createVendorClock(): VendorClock {
  let current: Generation = { sinceMs: Number.NEGATIVE_INFINITY, leastMs: Infinity };
  let previousLeastMs = Infinity;
  let recent: readonly number[] = [];
  let lastDateMs: number | undefined;

  return {
    answered: (headers, nowMs) => {
      const dateMs = dateOf(headers);
      if (dateMs === undefined) return;
      const offsetMs = nowMs - dateMs;
      if (nowMs >= current.sinceMs + generationMs) {
        previousLeastMs = nowMs < current.sinceMs + 2 * generationMs ? current.leastMs : Infinity;
        current = { sinceMs: nowMs, leastMs: offsetMs };
      } else if (offsetMs < current.leastMs) {
        current = { ...current, leastMs: offsetMs };
      }
      // One sample a second is enough, and costs less.
      if (dateMs === lastDateMs && recent.length >= fewestAnswers) return;
      lastDateMs = dateMs;
      recent = [...recent.slice(1 - recentAnswers), offsetMs];
    },
    givenAtMs: (headers, sentMs, nowMs) => {
      const dateMs = dateOf(headers);
      const leastMs = Math.min(current.leastMs, previousLeastMs);
      if (dateMs === undefined || leastMs === Infinity) return nowMs;
      return Math.min(nowMs, Math.max(sentMs, dateMs + leastMs));
    },
    wallMs: (nowMs) => {
      if (recent.length < fewestAnswers) return undefined;
      const middle = recent.toSorted((a, b) => a - b)[Math.floor(recent.length / 2)];
      return middle === undefined ? undefined : nowMs - middle;
    },
  };
}
