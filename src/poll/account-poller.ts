import type { AccountInUse } from '../model/config.ts';
import type { ApplicationStatus, PollerStatus } from '../model/status.ts';
import type { AccountPlan } from './account-plan.ts';
import { accountStatusOf } from './account-status.ts';
import { AccountTable } from './account-table.ts';
import { applicationStatusesOf } from './application-status.ts';
import type { Context } from './context.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import { discoveryOptionsOf, entriesWithoutHost, wantSameApplications } from './discovery-state.ts';
import { PollLoop, pollUntilSettled } from './poll-loop.ts';

/** Far longer than any deadline of the loops themselves. */
const stalledAfterMs = 5 * 60_000;

/** Keeps one account's values fresh: discovers again and again, and polls what is due. */
export class AccountPoller {
  #options: AccountInUse;
  readonly #context: Context;
  readonly #table: AccountTable;
  readonly #discoveries: DiscoveryLoop;
  readonly #polls: PollLoop;
  readonly #startMs: number;
  readonly #stopping = new AbortController();
  #isRunning = false;

  constructor(options: AccountInUse, context: Context) {
    this.#options = options;
    this.#context = context;
    this.#startMs = context.clock.monotonicMs();
    this.#table = new AccountTable(options, context);
    this.#discoveries = new DiscoveryLoop(discoveryOptionsOf(options), this.#table, context);
    this.#polls = new PollLoop(this.#table, context, () => this.#discoveries.soon());
  }

  get plan(): AccountPlan {
    return this.#table.plan;
  }

  /** Discovers and polls until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    try {
      await this.#untilStopped(signal, async (stopped) => {
        const ended = async (removedIds: readonly string[]): Promise<void> =>
          this.#show(removedIds, stopped);
        const loops = [
          this.#table.publishAll(stopped),
          this.#discoveries.run(stopped, ended),
          this.#polls.run(stopped),
        ];
        try {
          await Promise.all(loops);
        } finally {
          this.#stop(signal);
          await Promise.allSettled(loops);
        }
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Discovers once and polls everything. Resolves to whether all that was asked for arrived.
   */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    return this.#untilStopped(signal, async (stopped) => {
      const { isWhole: isComplete, removedIds } = await this.#discoveries.discover(stopped);
      await this.#show(removedIds, stopped);
      const { discovery, states, log } = this.#table;
      const polled = await Promise.all([
        this.#polls.pollAll([...states.queries.keys()], stopped),
        pollUntilSettled(this.#context.source, async () =>
          this.#polls.pollAll([...states.applications.keys()], stopped),
        ),
      ]);
      const isWhole = polled.every((one) => one);
      if (!isWhole) log.stillFailing(states.applications, states.queries);
      const hostless = entriesWithoutHost(states.applications.values());
      return isComplete && isWhole && discovery.missingSelectors.length + hostless.length === 0;
    });
  }

  status(): PollerStatus {
    return accountStatusOf(this.#options, this.#table, this.#context, {
      startMs: this.#startMs,
      nextDiscoveryMs: this.#discoveries.nextMs(),
    });
  }

  /** All applications that are polled, as they are now. */
  applications(): readonly ApplicationStatus[] {
    return applicationStatusesOf(this.#options.account.name, this.#table, this.#context.clock);
  }

  /**
   * Asks the queries of these settings from now on, in the turn of the call. The rest follows with
   * `reconfigure`.
   */
  ask(options: AccountInUse): void {
    this.#polls.abort(this.#table.ask(options));
    this.#polls.wake();
  }

  /**
   * Uses other settings from now on. Values stay. Polls under way go on, unless what they ask for
   * is no longer wanted. The name of the account must stay the same. A discovery begins at once if
   * it may find other applications.
   *
   * @param isSourceChanged whether the source now uses another key, or another way to the vendor
   */
  async reconfigure(options: AccountInUse, isSourceChanged = false): Promise<void> {
    const isSameQuestion = !isSourceChanged && wantSameApplications(this.#options, options);
    this.#options = options;
    // Before the table, so that no discovery with the old settings comes in between.
    this.#discoveries.follow(discoveryOptionsOf(options), isSameQuestion);
    const { signal } = this.#stopping;
    try {
      await this.#show(await this.#table.reconfigure(options, signal), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Why polling has come to a halt, if only a bug of this program explains that; else `undefined`. */
  stalled(): string | undefined {
    if (!this.#isRunning) return undefined;
    const { clock, calls } = this.#context;
    const nowMs = clock.monotonicMs();
    const lateSinceMs: readonly (readonly [what: string, sinceMs: number | undefined])[] = [
      ['a poll has been due', this.#table.states.overdueSinceMs()],
      ['a call has been due', calls.key.dueSinceMs()],
      ['a discovery has been late', this.#discoveries.lateSinceMs()],
    ];
    for (const [what, sinceMs = nowMs] of lateSinceMs) {
      const seconds = Math.round((nowMs - sinceMs) / 1000);
      const text = `account ${this.#options.account.name}: ${what} for ${seconds} s`;
      if (nowMs - sinceMs >= stalledAfterMs) return text;
    }
    return undefined;
  }

  /** Polls of what is no longer wanted end, new ones begin, and all that has changed is published. */
  async #show(unwanted: readonly string[], signal: AbortSignal): Promise<void> {
    this.#polls.abort(unwanted);
    this.#polls.wake();
    await this.#table.publishAll(signal);
  }

  /** The signal ends the polls at once, not only when all their calls have ended. */
  async #untilStopped<Value>(
    signal: AbortSignal,
    run: (stopped: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const stop = (): void => this.#stop(signal);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      return await run(this.#stopping.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  #stop(signal: AbortSignal): void {
    this.#isRunning = false;
    this.#stopping.abort(signal.aborted ? signal.reason : new Error('the account is stopped'));
    this.#polls.stop();
  }
}
