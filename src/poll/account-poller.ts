import type { AccountInUse } from '../model/config.ts';
import type { ApplicationStatus, PollerStatus } from '../model/status.ts';
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

  /** Discovers and polls until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = this.#stoppedWith(signal);
    this.#isRunning = true;
    const loops = [
      this.#table.publishAll(stopped),
      this.#discoveries.run(stopped, async () => this.#show(stopped)),
      this.#polls.run(stopped),
    ];
    try {
      await Promise.all(loops);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#stop();
      await Promise.allSettled(loops);
    }
  }

  /**
   * Discovers once and polls everything. Resolves to whether all that was asked for arrived.
   */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    const stopped = this.#stoppedWith(signal);
    try {
      const isComplete = await this.#discoveries.discover(stopped);
      await this.#show(stopped);
      const { discovery, states, log } = this.#table;
      const polled = await Promise.all([
        this.#polls.pollAll([...states.queries.keys()], stopped),
        pollUntilSettled(this.#context.source, async () =>
          this.#polls.pollAll([...states.applications.keys()], stopped),
        ),
      ]);
      const isWhole = polled.every((one) => one);
      if (!isWhole) log.stillFailing(states.all, 0);
      const hostless = entriesWithoutHost(states.applications.values());
      return isComplete && isWhole && discovery.missingSelectors.length + hostless.length === 0;
    } finally {
      this.#stop();
    }
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
    this.#table.ask(options);
    this.#polls.dropUnwanted();
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
      await this.#table.reconfigure(options, signal);
      await this.#show(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Why polling has come to a halt, if only a bug of this program explains that; else `undefined`. */
  stalled(): string | undefined {
    if (!this.#isRunning) return undefined;
    const { clock, calls } = this.#context;
    const nowMs = clock.monotonicMs();
    const waiting = [
      { what: 'a poll has been due', sinceMs: this.#table.states.overdueSinceMs() },
      { what: 'a call has been due', sinceMs: calls.key.dueSinceMs() },
      { what: 'a discovery has been late', sinceMs: this.#discoveries.lateSinceMs() },
    ];
    const late = waiting.find(({ sinceMs = nowMs }) => nowMs - sinceMs >= stalledAfterMs);
    if (late?.sinceMs === undefined) return undefined;
    const seconds = Math.round((nowMs - late.sinceMs) / 1000);
    return `account ${this.#options.account.name}: ${late.what} for ${seconds} s`;
  }

  /** Polls of what is no longer wanted end, new ones begin, and all that has changed is published. */
  async #show(signal: AbortSignal): Promise<void> {
    this.#polls.dropUnwanted();
    await this.#table.publishAll(signal);
  }

  /** The signal ends the polls at once, not only when all their calls have ended. */
  #stoppedWith(signal: AbortSignal): AbortSignal {
    const stop = (): void => this.#stop(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return this.#stopping.signal;
  }

  #stop(reason: unknown = new Error('the account is stopped')): void {
    this.#isRunning = false;
    this.#stopping.abort(reason);
    this.#polls.stop();
  }
}
