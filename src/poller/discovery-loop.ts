import type { Clock } from '../model/clock.ts';
import type { Selector } from '../model/config.ts';
import type { Source } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import { discoverWithin } from './discover-within.ts';
import type { DiscoveryState } from './discovery-state.ts';
import { createProbe } from './probe.ts';

export interface DiscoveryLoopOptions {
  readonly selectors: readonly Selector[];
  readonly intervalMs: number;
}

export interface DiscoveryLoopDependencies {
  readonly table: AccountTable;
  readonly source: Source;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Discovers the account's applications again and again. */
export interface DiscoveryLoop {
  /** One discovery; whether it found out all that it was asked. */
  discover(signal: AbortSignal): Promise<boolean>;
  /** Discovers until the signal is aborted, then rejects with its reason; `ended` follows each. */
  run(ended: (signal: AbortSignal) => void, signal: AbortSignal): Promise<void>;
  /** Brings the next discovery forward. */
  readonly soon: () => void;
}

/** Nothing can be shown before the first discovery succeeds, so it is tried again soon. */
const firstRetryMs = 1000;
/** What fails is looked at again after so long, even if discoveries are rarer than that. */
const probeIntervalMs = 60_000;
/** A discovery that takes longer has failed: nothing may hang for ever. */
const longestDiscoveryMs = 120_000;

export function createDiscoveryLoop(
  { selectors, intervalMs }: DiscoveryLoopOptions,
  { table, source, clock, random }: DiscoveryLoopDependencies,
): DiscoveryLoop {
  const deadlineMs = Math.max(intervalMs, longestDiscoveryMs);
  const probe = createProbe(clock);

  const discover = async (signal: AbortSignal): Promise<boolean> => {
    const known = table.knownIds();
    const discovery = await discoverWithin(deadlineMs, { source, clock }, selectors, known, signal);
    table.discovered(discovery);
    return discovery.complete && discovery.pendingIds.length === 0;
  };

  return {
    discover,
    run: async (ended, signal) => {
      let failures = 0;
      while (!signal.aborted) {
        failures = (await discover(signal)) ? 0 : failures + 1;
        ended(signal);
        const pauseMs = untilNextDiscoveryMs(table.discovery, intervalMs, failures, random);
        await probe.pause(pauseMs, signal);
      }
    },
    soon: probe.soon,
  };
}

/**
 * The pause before the next discovery.
 *
 * @param failures discoveries in a row that have failed
 * @param random uniform in [0, 1)
 */
function untilNextDiscoveryMs(
  discovery: DiscoveryState,
  intervalMs: number,
  failures: number,
  random: () => number,
): number {
  if (discovery.up === true) return intervalMs;
  if (discovery.answered) return Math.min(intervalMs, probeIntervalMs);
  const backoffMs = firstRetryMs * 2 ** Math.min(failures, 10) * (0.5 + random() / 2);
  return Math.min(backoffMs, intervalMs, probeIntervalMs);
}
