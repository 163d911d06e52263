import type { Platform } from '../daemon/platform.ts';
import type { RawTransport } from '../transport/transport.ts';
import { type Finding, findingOf } from './check-finding.ts';

/** `Date` counts whole seconds, and windows end minutes ago: a smaller difference does not matter. */
const tolerableSkewMs = 30_000;

/** The difference between two clocks, as one answer tells it. */
interface Reading {
  readonly skewMs: number;
  readonly roundTripMs: number;
}

/** A platform whose answers tell how far this machine's clock is from the vendor's. */
export interface DatedPlatform {
  readonly platform: Platform;
  /** What the clock is like; `undefined` if no answer had a date. */
  finding(): Finding | undefined;
}

/** Reads the `Date` of all answers that arrive through the platform. */
export function withDates(platform: Platform): DatedPlatform {
  const { clock } = platform;
  let best: Reading | undefined;

  const read = (date: unknown, sentMs: number): void => {
    const theirMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(theirMs)) return;
    const roundTripMs = clock.wallMs() - sentMs;
    if (best !== undefined && best.roundTripMs <= roundTripMs) return;
    best = { skewMs: theirMs - (sentMs + roundTripMs / 2), roundTripMs };
  };
  const dated = (raw: RawTransport): RawTransport => ({
    send: async (request, headers, signal) => {
      const sentMs = clock.wallMs();
      const response = await raw.send(request, headers, signal);
      read(response.headers['date'], sentMs);
      return response;
    },
    close: async () => raw.close(),
  });

  return {
    platform: {
      ...platform,
      openTransport: async (options) => dated(await platform.openTransport(options)),
    },
    finding: () => (best === undefined ? undefined : clockFinding(best.skewMs)),
  };
}

function clockFinding(skewMs: number): Finding {
  if (Math.abs(skewMs) <= tolerableSkewMs) {
    return findingOf('clock', 'ok', "the clock of this machine agrees with New Relic's");
  }
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'behind' : 'ahead of';
  const message = `the clock of this machine is ${seconds} s ${side} New Relic's`;
  return findingOf('clock', 'warning', message, {
    remedy: 'set it, such as by NTP; meanwhile the exporter follows the clock of New Relic',
  });
}
