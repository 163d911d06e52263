import type { Clock } from '../../model/clock.ts';
import { own } from '../../model/own.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import type { ApiResponse } from './transport.ts';

/** How far the vendor's clock is ahead of ours, by the `Date` of its answers. */
export interface ClockSkew {
  /** Negative when it is behind. */
  readonly ms: number;
  /** A difference beyond reason means a wrong `Date`, or that our own clock was never set. */
  readonly isBelieved: boolean;
}

/** An odd answer, such as an old one out of a cache, must not set the clock. */
const fewestAnswers = 3;
const recentAnswers = 9;
/** Answers take up to a minute: unless most of them agree within that, the `Date` is made up. */
const agreementMs = minuteMs;
/** Windows end minutes ago, so a smaller difference does not matter. */
const tolerableSkewMs = 30_000;
/** A smaller difference is over: the `Date` counts whole seconds. */
const overMs = 25_000;
/** A day, and an hour for a clock in the wrong half of a change of the hour. */
const believableSkewMs = 25 * hourMs;

/** What is read of it. */
export type VendorTime = Pick<VendorClock, 'wallMs' | 'whileInDoubt'>;

/**
 * The vendor's clock: the median of the last `Date` headers. They are compared with the uptime of the machine,
 * so that neither its sleep nor a step of its wall clock changes what they say.
 */
export class VendorClock {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'uptimeMs' | 'wallMs'>;
  readonly #skewed: (skew: ClockSkew | undefined) => void;
  /** How far the vendor's wall time is ahead of our uptime, by each of the last answers. */
  #offsetsMs: readonly number[] = [];
  /** How far our own wall time was ahead of it when the last answer came. */
  #ownOffsetMs = Number.NaN;
  #told: ClockSkew | undefined;

  /** @param skewed told when a difference begins to matter or to be beyond reason; with `undefined` when it is over */
  constructor(
    clock: Pick<Clock, 'monotonicMs' | 'uptimeMs' | 'wallMs'>,
    skewed: (skew: ClockSkew | undefined) => void,
  ) {
    this.#clock = clock;
    this.#skewed = skewed;
  }

  /** Learns from an answer that has just arrived. */
  answered(headers: ApiResponse['headers']): void {
    const dateMs = dateOf(headers);
    if (dateMs === undefined) return;
    const nowMs = this.#uptimeMs();
    const offsetMs = dateMs - nowMs;
    const ownOffsetMs = this.#clock.wallMs() - nowMs;
    // A virtual machine was paused, which the uptime does not count, and its clock was set since.
    const wasPaused =
      Math.abs(ownOffsetMs - this.#ownOffsetMs) > tolerableSkewMs &&
      Math.abs(offsetMs - median(this.#offsetsMs)) > agreementMs;
    this.#ownOffsetMs = ownOffsetMs;
    const known = wasPaused ? [] : this.#offsetsMs.slice(1 - recentAnswers);
    this.#offsetsMs = [...known, offsetMs];
    if (this.#offsetsMs.length < fewestAnswers) return;
    const skew = this.#skew();
    if (skew?.isBelieved === this.#told?.isBelieved) return;
    this.#told = skew;
    this.#skewed(skew);
  }

  /**
   * When the vendor gave an answer that arrives now, in monotonic time. That may be much earlier than it arrives,
   * but not before its request was sent.
   */
  answeredAtMs(headers: ApiResponse['headers'], sentMs: number): number {
    const dateMs = dateOf(headers);
    const nowMs = this.#clock.monotonicMs();
    if (dateMs === undefined || this.#offsetsMs.length === 0) return nowMs;
    const ageMs = this.#uptimeMs() + median(this.#offsetsMs) - dateMs;
    return Math.min(nowMs, Math.max(sentMs, nowMs - ageMs));
  }

  /** This machine's wall time, or the vendor's if that is far off and believed. */
  wallMs(): number {
    return this.#clock.wallMs() + 1000 * (this.skewSeconds() ?? 0);
  }

  /** How far the vendor's clock is ahead, if it is used instead of ours. */
  skewSeconds(): number | undefined {
    const skew = this.#skew();
    return skew?.isBelieved === true ? skew.ms / 1000 : undefined;
  }

  /** Whether an answer contradicts our clock, and there are too few yet to tell which one is wrong. */
  isInDoubt(): boolean {
    const aheadMs = Math.abs(median(this.#offsetsMs) + this.#uptimeMs() - this.#clock.wallMs());
    const isFew = this.#offsetsMs.length < fewestAnswers;
    return isFew && aheadMs > agreementMs && aheadMs <= believableSkewMs;
  }

  /**
   * Asks again while the first answers contradict our clock, and when they have shown that it is wrong.
   *
   * @param mostMore how often at most
   */
  async whileInDoubt<Read>(mostMore: number, ask: () => Promise<Read>): Promise<Read> {
    for (let left = mostMore; ; left -= 1) {
      const wasOurs = this.skewSeconds() === undefined;
      const read = await ask();
      const isSure = wasOurs === (this.skewSeconds() === undefined) && !this.isInDoubt();
      if (isSure || left === 0) return read;
    }
  }

  /** The difference between the clocks; `undefined` when it does not matter or is not known. */
  #skew(): ClockSkew | undefined {
    const offsetMs = median(this.#offsetsMs);
    const near = this.#offsetsMs.filter((other) => Math.abs(other - offsetMs) <= agreementMs);
    const isFew = this.#offsetsMs.length < fewestAnswers;
    if (isFew || 2 * near.length <= this.#offsetsMs.length) return undefined;
    const ms = offsetMs + this.#uptimeMs() - this.#clock.wallMs();
    const matters = Math.abs(ms) > (this.#told === undefined ? tolerableSkewMs : overMs);
    return matters ? { ms, isBelieved: Math.abs(ms) <= believableSkewMs } : undefined;
  }

  #uptimeMs(): number {
    return this.#clock.uptimeMs?.() ?? this.#clock.monotonicMs();
  }
}

/** Of an even number the later one; `NaN` of none. */
function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The first value of a header, without the blanks around it; empty if there is none. */
export function headerText(headers: ApiResponse['headers'], name: string): string {
  const value = own(headers, name);
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
