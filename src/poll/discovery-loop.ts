import { type Clock, sleep } from '../model/clock.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import type { Discovery, Source } from '../model/source.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import type { AccountTable } from './account-table.ts';
import { type DiscoveryState, discoverWithin, type Sought } from './discovery-state.ts';

export interface DiscoveryLoopDependencies {
  readonly table: Pick<AccountTable, 'states' | 'discovery' | 'discovered'>;
  readonly source: Pick<Source, 'discover'>;
  readonly calls: Pick<AccountCalls, 'beginList'>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called after each discovery, with the applications that it no longer found. */
  readonly ended: (removedIds: readonly string[]) => void;
}

/** Nothing can be shown before the first discovery succeeds, so it is tried again soon. */
const firstRetryMs = 1000;
/** Retry interval after a failed discovery, if shorter than the interval. */
const retryIntervalMs = 60_000;
/** The first pause when something that is configured was not found. It doubles each time. */
const lackingRetryMs = 60_000;
/** The shortest time between two discoveries, however many polls ask for one. */
const minPauseMs = 10_000;
/** A discovery that takes longer has failed: nothing may hang for ever. */
const firstDeadlineMs = 120_000;
/**
 * A long list needs longer: each discovery that is cut short after its first page doubles the
 * deadline, up to this.
 */
const longestDeadlineMs = 3_600_000;

class Restarted extends Error {}

/** Discovers the applications of an account again and again. */
export class DiscoveryLoop {
  #options: Sought;
  readonly #dependencies: DiscoveryLoopDependencies;
  /** The pause before the next discovery, while there is one; times are monotonic. */
  #pausing:
    | { readonly startMs: number; endMs: number; readonly changed: AbortController }
    | undefined;
  #deadlineMs: number;
  #underWay: AbortController | undefined;
  /** When the discovery under way, or the pause before the next one, should have ended. */
  #lateAtMs: number | undefined;

  constructor(options: Sought, dependencies: DiscoveryLoopDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#deadlineMs = Math.max(options.intervalMs, firstDeadlineMs);
  }

  /** Makes one discovery. Resolves to whether it found out all that it was asked. */
  async discover(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const restarted = new AbortController();
    const ended = AbortSignal.any([signal, restarted.signal]);
    this.#underWay = restarted;
    // Twice, because the source needs some time after the deadline as well.
    this.#lateAtMs = this.#dependencies.clock.monotonicMs() + 2 * this.#deadlineMs;
    try {
      const { table } = this.#dependencies;
      const discovery = await this.#ask(ended);
      if (this.#options.selectors.length === 0) return true;
      this.#dependencies.ended(await table.discovered(discovery, ended));
      return discovery.complete && discovery.pendingIds.length === 0;
    } finally {
      this.#underWay = undefined;
      this.#lateAtMs = undefined;
    }
  }

  /** Discovers until the signal is aborted, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let lacking = 0;
    for (;;) {
      try {
        const { selectors } = this.#options;
        failures = (await this.discover(signal)) ? 0 : failures + 1;
        lacking = lacksSomething(this.#dependencies.table) ? lacking + 1 : 0;
        // A restart between the discovery and the pause could not cut either of them short.
        const isCurrent = this.#options.selectors === selectors;
        if (isCurrent) await this.#pause({ failures, lacking }, signal);
      } catch (error) {
        if (!(error instanceof Restarted)) throw error;
      }
    }
  }

  /** Brings the next discovery forward. */
  soon(): void {
    this.#cutShort(minPauseMs);
  }

  /**
   * Looks for this from now on. Drops the discovery under way and begins another one, unless the same is
   * looked for and only the interval is another one.
   */
  follow(next: Sought, isSame: boolean): void {
    this.#options = isSame ? { ...this.#options, intervalMs: next.intervalMs } : next;
    this.#deadlineMs = Math.max(next.intervalMs, this.#deadlineMs);
    if (!isSame) this.#underWay?.abort(new Restarted());
    this.#cutShort(isSame ? next.intervalMs : 0);
  }

  /** Monotonic time since when the discovery under way, or the next one, has been late. */
  lateSinceMs(): number | undefined {
    const atMs = this.#lateAtMs;
    return atMs !== undefined && atMs <= this.#dependencies.clock.monotonicMs() ? atMs : undefined;
  }

  /** Monotonic time at which the next discovery begins; `undefined` while one is under way. */
  nextMs(): number | undefined {
    return this.#pausing?.endMs;
  }

  async #ask(signal: AbortSignal): Promise<Discovery> {
    const { table, source, clock, calls } = this.#dependencies;
    const startMs = clock.monotonicMs();
    const deadlineMs = this.#deadlineMs;
    const known = [...table.states.keys()];
    const { selectors, tags, intervalMs } = this.#options;
    calls.beginList(intervalMs);
    const asking = { source, clock };
    const discovery = await discoverWithin(deadlineMs, asking, selectors, known, signal, tags);
    // The source may have ended just before the abort: then its result is no longer wanted.
    signal.throwIfAborted();
    const isCutShort = clock.monotonicMs() - startMs >= deadlineMs;
    if (isCutShort && discovery.calls > 1) {
      this.#deadlineMs = Math.min(longestDeadlineMs, 2 * deadlineMs);
    }
    return discovery;
  }

  async #pause(inARow: DiscoveriesInARow, signal: AbortSignal): Promise<void> {
    const { table, clock, random } = this.#dependencies;
    const { selectors, intervalMs } = this.#options;
    const pauseMs =
      selectors.length === 0
        ? intervalMs
        : untilNextDiscoveryMs(table.discovery, intervalMs, inARow, random);
    const startMs = clock.monotonicMs();
    this.#lateAtMs = startMs + pauseMs;
    let endMs = startMs + pauseMs;
    try {
      for (let nowMs = startMs; nowMs < endMs; nowMs = clock.monotonicMs()) {
        const changed = new AbortController();
        this.#pausing = { startMs, endMs, changed };
        await sleep(clock, endMs - nowMs, AbortSignal.any([signal, changed.signal])).catch(() =>
          signal.throwIfAborted(),
        );
        ({ endMs } = this.#pausing);
      }
    } finally {
      this.#pausing = undefined;
    }
  }

  /** Ends the present pause, but not before `minMs` after its start. */
  #cutShort(minMs: number): void {
    if (this.#pausing === undefined) return;
    const { startMs, endMs } = this.#pausing;
    this.#pausing.endMs = Math.max(
      this.#dependencies.clock.monotonicMs(),
      Math.min(endMs, startMs + minMs),
    );
    this.#pausing.changed.abort();
  }
}

interface DiscoveriesInARow {
  /** Those that have failed. */
  readonly failures: number;
  /** Those that did not find everything that is configured. */
  readonly lacking: number;
}

/** Whether something that is configured is not there or does not report: it may be there soon. */
function lacksSomething({ discovery, states }: DiscoveryLoopDependencies['table']): boolean {
  if (discovery.missingSelectors.length > 0) return true;
  for (const { selected } of states.values()) if (!isWorthPolling(selected)) return true;
  return false;
}

/**
 * The pause before the next discovery.
 *
 * @param random uniform in [0, 1)
 */
function untilNextDiscoveryMs(
  discovery: DiscoveryState,
  intervalMs: number,
  { failures, lacking }: DiscoveriesInARow,
  random: () => number,
): number {
  if (discovery.up === true) {
    // An application appears some minutes after its first agent has started.
    return lacking === 0 ? intervalMs : Math.min(intervalMs, lackingRetryMs * 2 ** (lacking - 1));
  }
  if (discovery.answered) return Math.min(intervalMs, retryIntervalMs);
  const backoffMs = firstRetryMs * 2 ** Math.min(failures, 10) * (0.5 + random() / 2);
  return Math.min(backoffMs, intervalMs, retryIntervalMs);
}
