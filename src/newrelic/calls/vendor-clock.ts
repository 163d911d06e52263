import type { Clock } from '../../model/clock.ts';
import { own } from '../../model/own.ts';
import type { ClockSkew } from '../../model/status.ts';
import { hourMs } from '../../model/time.ts';
import type { ApiResponse } from './transport.ts';

/** One odd answer among them, such as an old one out of a cache, does not set the clock. */
const recentAnswers = 9;
/** Windows end minutes ago, so a smaller difference does not matter. */
const tolerableSkewMs = 30_000;
/** A smaller difference is over. A `Date` counts whole seconds, and some answers take a few. */
const overMs = 25_000;
/** A day, and an hour for a clock in the wrong half of a change of the hour. */
const believableSkewMs = 25 * hourMs;

/** What is read of it. */
export type VendorTime = Pick<VendorClock, 'wallMs' | 'skewSeconds'>;

/**
 * The vendor's clock: the median of the last `Date` headers, beside the uptime of the machine, so that neither
 * its sleep nor a step of its wall clock changes what they say.
 */
export class VendorClock {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'uptimeMs' | 'wallMs'>;
  /** How far the vendor's wall time is ahead of our uptime, by each of the last answers. */
  #offsetsMs: readonly number[] = [];
  /** Whether a difference matters since an earlier answer: it has to become smaller to be over. */
  #mattered = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'uptimeMs' | 'wallMs'>) {
    this.#clock = clock;
  }

  /** Learns from an answer that has just arrived. */
  answered(headers: ApiResponse['headers']): void {
    const dateMs = dateOf(headers);
    if (dateMs === undefined) return;
    this.#offsetsMs = [...this.#offsetsMs.slice(1 - recentAnswers), dateMs - this.#uptimeMs()];
    this.#mattered = this.skew() !== undefined;
  }

  /**
   * When the vendor gave an answer that arrives now, in monotonic time. That may be much earlier than it arrives,
   * but not before its request was sent.
   */
  answeredAtMs(headers: ApiResponse['headers'], sentMs: number): number {
    const dateMs = dateOf(headers);
    const nowMs = this.#clock.monotonicMs();
    if (dateMs === undefined) return nowMs;
    const ageMs = this.#uptimeMs() + median(this.#offsetsMs) - dateMs;
    return Math.min(nowMs, Math.max(sentMs, nowMs - ageMs));
  }

  /** This machine's wall time, or the vendor's if that is far off and believed. */
  wallMs(): number {
    return this.#clock.wallMs() + 1000 * (this.skewSeconds() ?? 0);
  }

  /** How far the vendor's clock is ahead, if it is used instead of ours. */
  skewSeconds(): number | undefined {
    const skew = this.skew();
    return skew?.isBelieved === true ? skew.ms / 1000 : undefined;
  }

  /** The difference between the clocks; `undefined` when it does not matter or is not known. */
  skew(): ClockSkew | undefined {
    const ms = median(this.#offsetsMs) + this.#uptimeMs() - this.#clock.wallMs();
    const matters = Math.abs(ms) > (this.#mattered ? overMs : tolerableSkewMs);
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
