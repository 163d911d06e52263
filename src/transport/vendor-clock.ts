import type { Clock } from '../model/clock.ts';
import { own } from '../model/own.ts';
import { hourMs, minuteMs } from '../model/time.ts';
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
  /** Whether an answer contradicts our clock, and there are too few yet to tell which one is wrong. */
  isInDoubt(): boolean;
}

export interface VendorClockDependencies {
  readonly clock: Pick<Clock, 'monotonicMs' | 'uptimeMs' | 'wallMs'>;
  /** Told when a difference begins to matter or to be beyond reason, and with `undefined` when it no longer matters. */
  readonly skewed: (skew: ClockSkew | undefined) => void;
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

/**
 * The median of the last `Date` headers. They are compared with the uptime of the machine, so that
 * neither its sleep nor a step of its wall clock changes what they say.
 */
export function createVendorClock({ clock, skewed }: VendorClockDependencies): VendorClock {
  const uptimeMs = (): number => clock.uptimeMs?.() ?? clock.monotonicMs();
  /** How far the vendor's wall time is ahead of our uptime, by each of the last answers. */
  let offsetsMs: readonly number[] = [];
  /** How far our own wall time was ahead of it when the last answer came. */
  let knownOwnOffsetMs = Number.NaN;
  let told: ClockSkew | undefined;

  const skewAt = (nowMs: number): ClockSkew | undefined => {
    const offsetMs = median(offsetsMs);
    const near = offsetsMs.filter((other) => Math.abs(other - offsetMs) <= agreementMs);
    if (offsetsMs.length < fewestAnswers || 2 * near.length <= offsetsMs.length) return undefined;
    const ms = offsetMs + nowMs - clock.wallMs();
    const matters = Math.abs(ms) > (told === undefined ? tolerableSkewMs : overMs);
    return matters ? { ms, isBelieved: Math.abs(ms) <= believableSkewMs } : undefined;
  };

  return {
    answered: (headers) => {
      const dateMs = dateOf(headers);
      if (dateMs === undefined) return;
      const nowMs = uptimeMs();
      const offsetMs = dateMs - nowMs;
      const ownOffsetMs = clock.wallMs() - nowMs;
      // A virtual machine was paused, which the uptime does not count, and its clock was set since.
      const wasPaused =
        Math.abs(ownOffsetMs - knownOwnOffsetMs) > tolerableSkewMs &&
        Math.abs(offsetMs - median(offsetsMs)) > agreementMs;
      knownOwnOffsetMs = ownOffsetMs;
      offsetsMs = [...(wasPaused ? [] : offsetsMs.slice(1 - recentAnswers)), offsetMs];
      if (offsetsMs.length < fewestAnswers) return;
      const current = skewAt(nowMs);
      if (current?.isBelieved === told?.isBelieved) return;
      told = current;
      skewed(current);
    },
    answeredAtMs: (headers, sentMs) => {
      const dateMs = dateOf(headers);
      const nowMs = clock.monotonicMs();
      if (dateMs === undefined || offsetsMs.length === 0) return nowMs;
      const ageMs = uptimeMs() + median(offsetsMs) - dateMs;
      return Math.min(nowMs, Math.max(sentMs, nowMs - ageMs));
    },
    skew: () => skewAt(uptimeMs()),
    isInDoubt: () => {
      const aheadMs = Math.abs(median(offsetsMs) + uptimeMs() - clock.wallMs());
      const isFew = offsetsMs.length < fewestAnswers;
      return isFew && aheadMs > agreementMs && aheadMs <= believableSkewMs;
    },
  };
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
