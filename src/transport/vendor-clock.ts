import type { Clock } from '../model/clock.ts';
import type { ApiResponse } from './transport.ts';

/** How far the vendor's clock is ahead of ours, by the `Date` of its answers. */
export interface ClockSkew {
  /** Negative when it is behind. */
  readonly ms: number;
  /** A difference beyond reason means a wrong `Date`, or that our own clock was never set. */
  readonly isBelieved: boolean;
}

/** The vendor's clock. Our own times are monotonic unless stated otherwise. */
export interface VendorClock {
  /** Learns from an answer that has just arrived. */
  answered(headers: ApiResponse['headers']): void;
  /**
   * When the vendor gave an answer that arrives now. That may be much earlier than it arrives, but not
   * before its request was sent.
   */
  answeredAtMs(headers: ApiResponse['headers'], sentMs: number): number;
  /** The difference between the clocks; `undefined` when it does not matter or is not known. */
  skew(): ClockSkew | undefined;
}

export interface VendorClockDependencies {
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** Told when a difference begins to matter, and with `undefined` when it no longer does. */
  readonly skewed: (skew: ClockSkew | undefined) => void;
}

/** How long the fastest answer counts at least; after twice this time it is forgotten. */
const generationMs = 5 * 60_000;
/** An odd answer, such as an old one out of a cache, must not set the clock. */
const fewestAnswers = 3;
const recentAnswers = 9;
/** Answers take up to a minute: unless most of them agree within that, the `Date` is made up. */
const agreementMs = 60_000;
/** Windows end minutes ago, so a smaller difference does not matter. */
const tolerableSkewMs = 30_000;
/** A difference must be this much smaller to be over: the `Date` counts whole seconds. */
const hysteresisMs = 5000;
/** A day, and an hour for a clock in the wrong half of a change of the hour. */
const believableSkewMs = 25 * 3_600_000;
/** If our own two clocks move apart by more, the machine has slept or its wall clock was set. */
const ownJumpMs = 5000;

/** The smallest offset of the generation that began at `sinceMs`. */
interface Generation {
  readonly sinceMs: number;
  readonly leastMs: number;
}

export function createVendorClock({ clock, skewed }: VendorClockDependencies): VendorClock {
  const fastest = createFastestAnswer();
  let recent: readonly number[] = [];
  /** The offsets known before our own clocks moved apart. */
  let setAside: readonly number[] = [];
  let lastDateMs: number | undefined;
  let ownOffsetMs = clock.wallMs() - clock.monotonicMs();
  let told = false;

  /**
   * If the wall clock has moved on alone, the monotonic clock may have stood still while the machine
   * slept: then no offset holds any more. If the wall clock was set instead, the next answer confirms
   * the old offsets.
   */
  const forgetAfterSleep = (): void => {
    const offsetMs = clock.wallMs() - clock.monotonicMs();
    if (offsetMs > ownOffsetMs + ownJumpMs) {
      if (recent.length >= fewestAnswers) setAside = recent;
      recent = [];
    }
    ownOffsetMs = offsetMs;
  };

  const isConfirmed = (offsetMs: number): boolean => {
    const beforeMs = recent.length < fewestAnswers ? commonOffset(setAside) : undefined;
    return beforeMs !== undefined && Math.abs(offsetMs - beforeMs) <= tolerableSkewMs;
  };

  const skew = (): ClockSkew | undefined => {
    const offsetMs = commonOffset(recent);
    if (offsetMs === undefined) return undefined;
    const ms = clock.monotonicMs() - offsetMs - clock.wallMs();
    const isSmall = Math.abs(ms) <= tolerableSkewMs - (told ? hysteresisMs : 0);
    return isSmall ? undefined : { ms, isBelieved: Math.abs(ms) <= believableSkewMs };
  };

  return {
    answered: (headers) => {
      const dateMs = dateOf(headers);
      if (dateMs === undefined) return;
      const nowMs = clock.monotonicMs();
      fastest.add(nowMs - dateMs, nowMs);
      forgetAfterSleep();
      if (isConfirmed(nowMs - dateMs)) recent = setAside;
      // One sample a second is enough, and costs less.
      if (dateMs === lastDateMs && recent.length >= fewestAnswers) return;
      lastDateMs = dateMs;
      recent = [...recent.slice(1 - recentAnswers), nowMs - dateMs];
      if (recent.length < fewestAnswers) return;
      const current = skew();
      if (told === (current !== undefined)) return;
      told = current !== undefined;
      skewed(current);
    },
    answeredAtMs: (headers, sentMs) => {
      const dateMs = dateOf(headers);
      const nowMs = clock.monotonicMs();
      const leastMs = fastest.leastMs();
      if (dateMs === undefined || leastMs === Infinity) return nowMs;
      return Math.min(nowMs, Math.max(sentMs, dateMs + leastMs));
    },
    skew: () => {
      forgetAfterSleep();
      return skew();
    },
  };
}

/** The median of the offsets, if most of them are near it. */
function commonOffset(offsetsMs: readonly number[]): number | undefined {
  if (offsetsMs.length < fewestAnswers) return undefined;
  const medianMs = offsetsMs.toSorted((a, b) => a - b)[Math.floor(offsetsMs.length / 2)];
  if (medianMs === undefined) return undefined;
  const near = offsetsMs.filter((offsetMs) => Math.abs(offsetMs - medianMs) <= agreementMs);
  return 2 * near.length > offsetsMs.length ? medianMs : undefined;
}

interface FastestAnswer {
  add(offsetMs: number, nowMs: number): void;
  /** `Infinity` while nothing is known. */
  leastMs(): number;
}

function createFastestAnswer(): FastestAnswer {
  let current: Generation = { sinceMs: Number.NEGATIVE_INFINITY, leastMs: Infinity };
  let previousLeastMs = Infinity;
  return {
    add: (offsetMs, nowMs) => {
      if (nowMs >= current.sinceMs + generationMs) {
        previousLeastMs = nowMs < current.sinceMs + 2 * generationMs ? current.leastMs : Infinity;
        current = { sinceMs: nowMs, leastMs: offsetMs };
      } else if (offsetMs < current.leastMs) {
        current = { ...current, leastMs: offsetMs };
      }
    },
    leastMs: () => Math.min(current.leastMs, previousLeastMs),
  };
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The first value of a header, without the blanks around it; empty if there is none. */
export function headerText(headers: ApiResponse['headers'], name: string): string {
  const value = headers[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

/** Milliseconds since the epoch of a date such as `Tue, 01 Sep 2026 10:00:00 GMT`. */
export function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** When the vendor gave an answer, by its own clock, to the second. */
export function dateOf(headers: ApiResponse['headers']): number | undefined {
  return parseHttpDate(headerText(headers, 'date'));
}
