import { ApiError } from '../model/api-error.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import type { Discovery } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import type { Context } from './context.ts';
import { nothingToDiscover, type Sought } from './discovery-state.ts';
import { LoopPause } from './pause.ts';
import { whatCallsWaitFor } from './subject-state.ts';

/** Nothing can be shown before the first discovery succeeds, so it is tried again soon. */
const firstRetryMs = 1000;
/** After a failed discovery, if shorter than the interval. While something is not found, it doubles each time. */
const retryMs = 60_000;
/** The shortest time between two discoveries, however many polls ask for one. */
const minListPauseMs = 10_000;
/** A list that has waited for so many intervals counts as failed. */
const listLateAfter = 3;
/** Its calls may hang at their timeouts meanwhile: that is another failure. */
const leastLateMs = 180_000;
const waitingDiscovery: Discovery = {
  ...nothingToDiscover,
  complete: false,
  error: new ApiError(
    'throttled',
    `no page of the list of applications has come for three minutes or intervals: ${whatCallsWaitFor}`,
  ),
};

class Restarted extends Error {}

/** Discovers the applications of an account again and again. */
export class DiscoveryLoop {
  #options: Sought;
  readonly #table: AccountTable;
  readonly #context: Context;
  readonly #pause: LoopPause;
  #underWay: AbortController | undefined;
  /** When the pause before the next discovery should have ended. */
  #lateAtMs: number | undefined;

  constructor(options: Sought, table: AccountTable, context: Context) {
    this.#options = options;
    this.#table = table;
    this.#context = context;
    this.#pause = new LoopPause(context.clock);
  }

  /**
   * Discovers until the signal is aborted, then rejects with its reason.
   *
   * @param ended called after each discovery
   */
  async run(signal: AbortSignal, ended: () => Promise<void>): Promise<void> {
    let failures = 0;
    let lacking = 0;
    for (;;) {
      try {
        const { selectors } = this.#options;
        const isWhole = await this.discover(signal, ended);
        failures = isWhole ? 0 : failures + 1;
        const { discovery, states } = this.#table;
        const selected = Array.from(states.applications.values(), (one) => one.selected);
        // What is configured and not there, or does not report, may be there soon.
        const isFound = discovery.missingSelectors.length === 0 && selected.every(isWorthPolling);
        lacking = isFound ? 0 : lacking + 1;
        // A restart between the discovery and the pause could not cut either of them short.
        const isCurrent = this.#options.selectors === selectors;
        const atMs = this.#context.clock.monotonicMs() + this.#pauseMs(failures, lacking);
        this.#lateAtMs = atMs;
        await Promise.all([isCurrent && this.#pause.until(atMs, signal), ended()]);
      } catch (error) {
        if (!(error instanceof Restarted)) throw error;
      }
    }
  }

  /**
   * Makes one discovery. Resolves to whether it found out all that it was asked.
   *
   * @param shown called after each change; left out by commands, whose calls do not wait for ever
   */
  async discover(signal: AbortSignal, shown?: () => Promise<void>): Promise<boolean> {
    signal.throwIfAborted();
    const underWay = new AbortController();
    const stop = (): void => underWay.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#underWay = underWay;
    this.#lateAtMs = undefined;
    try {
      // Who has begun it goes on first.
      await Promise.resolve();
      if (this.#options.selectors.length === 0) return true;
      const discovery = await this.#ask(underWay.signal, shown);
      await this.#table.discovered(discovery, underWay.signal);
      return discovery.complete && discovery.pendingIds.length === 0;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#underWay = undefined;
    }
  }

  /** Brings the next discovery forward. */
  soon(): void {
    this.#pause.endAfter(minListPauseMs);
  }

  /**
   * Looks for this from now on. Drops the discovery under way and begins another one, unless the same is
   * looked for and only the interval is another one.
   */
  follow(next: Sought, isSame: boolean): void {
    this.#options = isSame ? { ...this.#options, intervalMs: next.intervalMs } : next;
    if (!isSame) this.#underWay?.abort(new Restarted());
    this.#pause.endAfter(isSame ? next.intervalMs : 0);
  }

  /** Monotonic time since when the next discovery has been late. */
  lateSinceMs(): number | undefined {
    const atMs = this.#lateAtMs;
    return atMs !== undefined && atMs <= this.#context.clock.monotonicMs() ? atMs : undefined;
  }

  /** Monotonic time at which the next discovery begins; `undefined` while one is under way. */
  nextMs(): number | undefined {
    return this.#pause.endMs;
  }

  /** A list may wait for as long as it takes. What the one before said must not grow old in silence meanwhile. */
  async #ask(signal: AbortSignal, shown?: () => Promise<void>): Promise<Discovery> {
    const { source } = this.#context;
    const known = [...this.#table.states.applications.keys()];
    const asked = source.discover(this.#options, known, signal);
    if (shown !== undefined) await this.#untilEnded(asked, shown, signal);
    const discovery = await asked;
    // The source may have ended just before the abort: then its result is no longer wanted.
    signal.throwIfAborted();
    return discovery;
  }

  async #untilEnded(
    asked: Promise<Discovery>,
    shown: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, calls } = this.#context;
    const { intervalMs } = this.#options;
    const startMs = clock.monotonicMs();
    const lateMs = Math.max(leastLateMs, listLateAfter * intervalMs);
    let waitMs = lateMs;
    while (!(await this.#endsWithin(waitMs, asked))) {
      // A long list is not late as long as its pages come.
      waitMs = Math.max(startMs, calls.listEndedMs) + lateMs - clock.monotonicMs();
      if (waitMs > 0) continue;
      await this.#table.discovered(waitingDiscovery, signal);
      await shown();
      waitMs = intervalMs;
    }
  }

  async #endsWithin(ms: number, asked: Promise<Discovery>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#context.clock.after(ms, () => resolve(false));
      asked.finally(cancelTimer).then(() => resolve(true), reject);
    });
  }

  /**
   * The pause before the next discovery.
   *
   * @param failures discoveries in a row that have failed
   * @param lacking discoveries in a row that did not find everything that is configured
   */
  #pauseMs(failures: number, lacking: number): number {
    const { selectors, intervalMs } = this.#options;
    const { up, answered } = this.#table.discovery;
    if (selectors.length === 0) return intervalMs;
    if (up === true) {
      // An application appears some minutes after its first agent has started.
      return lacking === 0 ? intervalMs : Math.min(intervalMs, retryMs * 2 ** (lacking - 1));
    }
    const jitter = 0.5 + this.#context.random() / 2;
    const backoffMs = firstRetryMs * 2 ** Math.min(failures, 10) * jitter;
    return Math.min(intervalMs, retryMs, answered ? retryMs : backoffMs);
  }
}
