import { isWorthPolling } from '../model/selected-application.ts';
import type { Discovery } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import type { Context } from './context.ts';
import { type DiscoveryState, discoverWithin, type Sought } from './discovery-state.ts';
import { Pause } from './pause.ts';

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
  readonly #table: AccountTable;
  readonly #context: Context;
  readonly #pause: Pause;
  #deadlineMs: number;
  #underWay: AbortController | undefined;
  /** When the discovery under way, or the pause before the next one, should have ended. */
  #lateAtMs: number | undefined;

  constructor(options: Sought, table: AccountTable, context: Context) {
    this.#options = options;
    this.#table = table;
    this.#context = context;
    this.#pause = new Pause(context.clock);
    this.#deadlineMs = Math.max(options.intervalMs, firstDeadlineMs);
  }

  /**
   * Discovers until the signal is aborted, then rejects with its reason.
   *
   * @param ended called after each discovery, with the applications that it no longer found
   */
  async run(
    signal: AbortSignal,
    ended: (removedIds: readonly string[]) => Promise<void>,
  ): Promise<void> {
    let failures = 0;
    let lacking = 0;
    for (;;) {
      try {
        const { selectors } = this.#options;
        const { isWhole, removedIds } = await this.discover(signal);
        failures = isWhole ? 0 : failures + 1;
        lacking = lacksSomething(this.#table) ? lacking + 1 : 0;
        // A restart between the discovery and the pause could not cut either of them short.
        const isCurrent = this.#options.selectors === selectors;
        const pause = isCurrent ? this.#wait({ failures, lacking }, signal) : undefined;
        await Promise.all([ended(removedIds), pause]);
      } catch (error) {
        if (!(error instanceof Restarted)) throw error;
      }
    }
  }

  /**
   * Makes one discovery, with the key as it is now: a rotated key is used within a minute. Resolves to
   * whether it found out all that it was asked.
   */
  async discover(
    signal: AbortSignal,
  ): Promise<{ readonly isWhole: boolean; readonly removedIds: readonly string[] }> {
    signal.throwIfAborted();
    const underWay = new AbortController();
    const stop = (): void => underWay.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#underWay = underWay;
    // Twice, because the source needs some time after the deadline as well.
    this.#lateAtMs = this.#context.clock.monotonicMs() + 2 * this.#deadlineMs;
    try {
      await this.#context.key.reload();
      if (this.#options.selectors.length === 0) return { isWhole: true, removedIds: [] };
      const discovery = await this.#ask(underWay.signal);
      const removedIds = await this.#table.discovered(discovery, underWay.signal);
      return { isWhole: discovery.complete && discovery.pendingIds.length === 0, removedIds };
    } finally {
      signal.removeEventListener('abort', stop);
      this.#underWay = undefined;
      this.#lateAtMs = undefined;
    }
  }

  /** Brings the next discovery forward. */
  soon(): void {
    this.#pause.endAfter(minPauseMs);
  }

  /**
   * Looks for this from now on. Drops the discovery under way and begins another one, unless the same is
   * looked for and only the interval is another one.
   */
  follow(next: Sought, isSame: boolean): void {
    this.#options = isSame ? { ...this.#options, intervalMs: next.intervalMs } : next;
    this.#deadlineMs = Math.max(next.intervalMs, this.#deadlineMs);
    if (!isSame) this.#underWay?.abort(new Restarted());
    this.#pause.endAfter(isSame ? next.intervalMs : 0);
  }

  /** Monotonic time since when the discovery under way, or the next one, has been late. */
  lateSinceMs(): number | undefined {
    const atMs = this.#lateAtMs;
    return atMs !== undefined && atMs <= this.#context.clock.monotonicMs() ? atMs : undefined;
  }

  /** Monotonic time at which the next discovery begins; `undefined` while one is under way. */
  nextMs(): number | undefined {
    return this.#pause.endMs;
  }

  async #ask(signal: AbortSignal): Promise<Discovery> {
    const { clock, calls } = this.#context;
    const startMs = clock.monotonicMs();
    const deadlineMs = this.#deadlineMs;
    const known = [...this.#table.states.applications.keys()];
    calls.beginList(this.#options.intervalMs);
    const discovery = await discoverWithin(deadlineMs, this.#context, this.#options, known, signal);
    // The source may have ended just before the abort: then its result is no longer wanted.
    signal.throwIfAborted();
    const isCutShort = clock.monotonicMs() - startMs >= deadlineMs;
    if (isCutShort && discovery.calls > 1) {
      this.#deadlineMs = Math.min(longestDeadlineMs, 2 * deadlineMs);
    }
    return discovery;
  }

  async #wait(inARow: DiscoveriesInARow, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#context;
    const { selectors, intervalMs } = this.#options;
    const pauseMs =
      selectors.length === 0
        ? intervalMs
        : untilNextDiscoveryMs(this.#table.discovery, intervalMs, inARow, random);
    this.#lateAtMs = clock.monotonicMs() + pauseMs;
    await this.#pause.until(this.#lateAtMs, signal);
  }
}

interface DiscoveriesInARow {
  /** Those that have failed. */
  readonly failures: number;
  /** Those that did not find everything that is configured. */
  readonly lacking: number;
}

/** Whether something that is configured is not there or does not report: it may be there soon. */
function lacksSomething({ discovery, states }: AccountTable): boolean {
  if (discovery.missingSelectors.length > 0) return true;
  for (const { selected } of states.applications.values())
    if (!isWorthPolling(selected)) return true;
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
  if (discovery.up.value === true) {
    // An application appears some minutes after its first agent has started.
    return lacking === 0 ? intervalMs : Math.min(intervalMs, lackingRetryMs * 2 ** (lacking - 1));
  }
  if (discovery.answered) return Math.min(intervalMs, retryIntervalMs);
  const backoffMs = firstRetryMs * 2 ** Math.min(failures, 10) * (0.5 + random() / 2);
  return Math.min(backoffMs, intervalMs, retryIntervalMs);
}
