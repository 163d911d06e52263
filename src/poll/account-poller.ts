import type { Clock } from '../model/clock.ts';
import type { AccountInUse } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { ApplicationStatus, PollerStatus } from '../model/status.ts';
import type { Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import { type AccountPlan, AccountPlanner } from './account-plan.ts';
import { accountStatusOf } from './account-status.ts';
import { AccountTable } from './account-table.ts';
import { applicationStatusesOf } from './application-status.ts';
import type { Aspect } from './aspect.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import { discoveryOptionsOf, entriesWithoutHost, wantSameApplications } from './discovery-state.ts';
import { pollUntilSettled } from './poll-again.ts';
import { PollLog } from './poll-log.ts';
import { PollLoop } from './poll-loop.ts';
import { type QueryRequest, queryBatchOf } from './query-state.ts';

export interface AccountPollerDependencies {
  readonly source: Source;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly logger: Logger;
  /** Sends the calls of the polls, and says what the account may send. */
  readonly calls: AccountCalls;
  /** The vendor's wall time, by which windows are cut. Default: the wall time of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
  /** What else may be wrong with the account, such as its key. Default: nothing. */
  readonly aspects?: (() => readonly Aspect[]) | undefined;
}

/** Far longer than any deadline of the loops themselves. */
const stalledAfterMs = 5 * 60_000;

/** Keeps one account's values fresh. */
export class AccountPoller {
  #options: AccountInUse;
  readonly #dependencies: AccountPollerDependencies;
  readonly #log: PollLog;
  readonly #table: AccountTable;
  readonly #discoveries: DiscoveryLoop;
  readonly #polls: PollLoop;
  readonly #queries: PollLoop<QueryRequest, QueryOutcome>;
  readonly #startMs: number;
  readonly #stopping = new AbortController();
  readonly #stopListening: () => void;
  #isRunning = false;

  constructor(options: AccountInUse, dependencies: AccountPollerDependencies) {
    const { clock, calls } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#startMs = clock.monotonicMs();
    const planner = new AccountPlanner(discoveryOptionsOf(options).intervalMs, {
      clock,
      costs: dependencies.source.costs,
      capacity: () => ({
        limitPerMinute: calls.limitPerMinute(),
        carriedPerMinute: calls.carriedPerMinute(),
      }),
    });
    const isRefused = (): boolean => this.#table.isRefused;
    const log = new PollLog(options.account.name, { ...dependencies, isRefused });
    this.#log = log;
    const isThrottled = (): boolean => calls.key.refusals() !== undefined;
    const parts = { ...dependencies, log, planner, isThrottled };
    this.#table = new AccountTable(options, parts);
    this.#discoveries = new DiscoveryLoop(discoveryOptionsOf(options), {
      ...dependencies,
      table: this.#table,
      ended: (removedIds) => {
        this.#polls.abort(removedIds);
        this.#wake();
      },
    });
    const { source } = dependencies;
    const unauthorized = (): void => {
      this.#discoveries.soon();
    };
    this.#polls = new PollLoop(this.#table, { ...parts, unauthorized });
    this.#queries = new PollLoop(this.#table.queries, {
      ...parts,
      source: { sharesCalls: false, batches: (due) => due.map((one) => queryBatchOf(one, source)) },
      unauthorized,
    });
    // Last, because a listener must not see a poller that is half built.
    const stopListening = source.onCostsChange?.(() => {
      this.#table.replan();
      this.#wake();
    });
    this.#stopListening = () => stopListening?.();
  }

  get plan(): AccountPlan {
    return this.#table.plan;
  }

  /** Discovers and polls until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    try {
      await this.#untilStopped(signal, async () => {
        // Queries need no list of applications.
        this.#queries.wake();
        await this.#discoveries.run(signal);
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Discovers once and polls every application, again if it must be asked for in another way. Resolves to
   * whether all that was asked for arrived.
   */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    return this.#untilStopped(signal, async () => {
      const isComplete = await this.#discoveries.discover(signal);
      const { discovery, states, queries } = this.#table;
      const polled = await Promise.all([
        this.#queries.pollAll(signal),
        pollUntilSettled(this.#dependencies.source, async () => this.#polls.pollAll(signal)),
      ]);
      const isWhole = polled.every((one) => one);
      if (!isWhole) this.#log.stillFailing(states, queries.states);
      const isFound =
        discovery.missingSelectors.length + entriesWithoutHost(states.values()).length === 0;
      return isComplete && isWhole && isFound;
    });
  }

  status(): PollerStatus {
    return accountStatusOf(this.#options, {
      ...this.#dependencies,
      table: this.#table,
      costs: this.#dependencies.source.costs,
      startMs: this.#startMs,
      nextDiscoveryMs: this.#discoveries.nextMs(),
    });
  }

  /** All applications that are polled, as they are now. */
  applications(): readonly ApplicationStatus[] {
    return applicationStatusesOf(this.#options.account, this.#table, this.#dependencies);
  }

  /**
   * Asks the queries of these settings from now on, in the turn of the call. The rest follows with
   * `reconfigure`.
   */
  ask(options: AccountInUse): void {
    this.#queries.abort(this.#table.ask(options));
    if (this.#isRunning) this.#queries.wake();
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
    const discovery = discoveryOptionsOf(options);
    // Before the table, so that no discovery with the old settings comes in between.
    this.#discoveries.follow(discovery, isSameQuestion);
    const { signal } = this.#stopping;
    try {
      this.#polls.abort(await this.#table.reconfigure(options, signal));
      this.#wake();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Why polling has come to a halt, if only a bug of this program explains that; else `undefined`. */
  stalled(): string | undefined {
    if (!this.#isRunning) return undefined;
    const nowMs = this.#dependencies.clock.monotonicMs();
    const lateSinceMs: readonly (readonly [what: string, sinceMs: number | undefined])[] = [
      ['a poll has been due', this.#polls.dueSinceMs()],
      ['a query has been due', this.#queries.dueSinceMs()],
      ['a call has been due', this.#dependencies.calls.key.dueSinceMs()],
      ['a discovery has been late', this.#discoveries.lateSinceMs()],
    ];
    for (const [what, sinceMs = nowMs] of lateSinceMs) {
      const seconds = Math.round((nowMs - sinceMs) / 1000);
      const text = `account ${this.#options.account.name}: ${what} for ${seconds} s`;
      if (nowMs - sinceMs >= stalledAfterMs) return text;
    }
    return undefined;
  }

  /**
   * The signal ends the polls at once, not only after the discovery, which may wait for their calls
   * to end.
   */
  async #untilStopped<Value>(signal: AbortSignal, run: () => Promise<Value>): Promise<Value> {
    const stop = (): void => {
      this.#stop();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await run();
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  #wake(): void {
    if (!this.#isRunning) return;
    this.#polls.wake();
    this.#queries.wake();
  }

  #stop(): void {
    this.#isRunning = false;
    this.#stopListening();
    this.#stopping.abort(new Error('the account is stopped'));
    this.#polls.stop();
    this.#queries.stop();
    this.#table.stop();
  }
}
