import { setMaxListeners } from 'node:events';
import { sleep } from '../model/clock.ts';
import type { AccountInUse } from '../model/config.ts';
import type { Polled, Source } from '../model/source.ts';
import type { ApplicationStatus } from '../model/status.ts';
import { minuteMs } from '../model/time.ts';
import {
  AccountJudge,
  accountFactsOf,
  applicationStatusesOf,
  hasEndedWell,
} from './account-status.ts';
import { AccountTable } from './account-table.ts';
import { subjectsPerTurn } from './app-publisher.ts';
import type { Context } from './context.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import { discoveryOptionsOf, entriesWithoutHost, wantSameApplications } from './discovery-state.ts';
import { LoopPause } from './pause.ts';
import {
  GroupPoll,
  isStillAsked,
  knownOutcomeOf,
  type PollRequest,
  pollRequest,
} from './poll-request.ts';

/** The file of a key is read so often: whatever waits or pauses, a new key is used within a minute. */
const keyReadMs = minuteMs / 2;
/** Far longer than the loops themselves take for anything. */
const stalledAfterMs = 5 * 60_000;
/** Polls started in one turn of the event loop: some milliseconds. */
const pollsPerTurn = 200;
/** A look at ten thousand subjects takes some milliseconds: it is made every quarter of a second at most. */
const subjectsPerMs = 40;

/**
 * Keeps one account's values fresh by two loops: one discovers again and again, one polls each application,
 * and each query, when it is due, and never twice at a time. A third one looks for a new key.
 */
export class AccountPoller {
  #options: AccountInUse;
  readonly #context: Context;
  readonly #table: AccountTable;
  readonly #discoveries: DiscoveryLoop;
  readonly #stopping = new AbortController();
  #isRunning = false;
  /** Polls that have not ended. */
  readonly #groups = new Set<GroupPoll>();
  /** That of the loop which polls. */
  readonly #pause: LoopPause;
  /** Whether something has changed since its last look. */
  #isWoken = false;
  /** What a source did not report as an outcome: a fault of this program. */
  #fault: { readonly error: unknown } | undefined;
  readonly judge: AccountJudge;
  /** Whether all is polled once: then nothing joins that was polled already. */
  #isOnce = false;

  constructor(options: AccountInUse, context: Context) {
    this.#options = options;
    this.#context = context;
    const startMs = context.clock.monotonicMs();
    this.#table = new AccountTable(options, context);
    this.#discoveries = new DiscoveryLoop(
      discoveryOptionsOf(options.entries),
      this.#table,
      context,
    );
    this.#pause = new LoopPause(context.clock);
    this.judge = new AccountJudge(
      options.account.name,
      () =>
        accountFactsOf(this.#options, this.#table, context, {
          startMs,
          nextDiscoveryMs: this.#discoveries.nextMs(),
        }),
      context,
      (problem) => hasEndedWell(problem, this.#table, this.#options.entries),
    );
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Discovers and polls until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = this.#stoppedWith(signal);
    this.#isRunning = true;
    const loops = [
      this.#table.publishAll(stopped),
      this.#discoveries.run(stopped, async () => this.#show(stopped)),
      this.#pollWhatIsDue(stopped),
      this.#readKeyAgain(stopped),
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

  /** Discovers once and polls everything. Resolves to whether all that was asked for arrived. */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    const stopped = this.#stoppedWith(signal);
    try {
      const isComplete = await this.#discoveries.discover(stopped);
      await this.#show(stopped);
      const { discovery, states } = this.#table;
      const polled = await Promise.all([
        this.#pollAll([...states.queries.keys()], stopped),
        pollUntilSettled(this.#context.source, async () =>
          this.#pollAll([...states.applications.keys()], stopped),
        ),
      ]);
      const isWhole = polled.every((one) => one);
      this.judge.judge(true);
      const hostless = entriesWithoutHost(states.applications.values());
      return isComplete && isWhole && discovery.missingSelectors.length + hostless.length === 0;
    } finally {
      this.#stop();
    }
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
    this.#dropUnwanted();
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
    this.#discoveries.follow(discoveryOptionsOf(options.entries), isSameQuestion);
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
    const sentMs = calls.oldestSentMs();
    const { timeoutMs } = this.#options.account;
    const waiting = [
      { what: 'a poll has been due', sinceMs: this.#table.states.overdueSinceMs() },
      { what: 'a call has been due', sinceMs: calls.key.dueSinceMs() },
      {
        what: 'a call has been past its timeout',
        sinceMs: sentMs === undefined ? sentMs : sentMs + timeoutMs,
      },
      { what: 'a discovery has been late', sinceMs: this.#discoveries.lateSinceMs() },
    ];
    const late = waiting.find(({ sinceMs = nowMs }) => nowMs - sinceMs >= stalledAfterMs);
    if (late?.sinceMs === undefined) return undefined;
    const seconds = Math.round((nowMs - late.sinceMs) / 1000);
    return `account ${this.#options.account.name}: ${late.what} for ${seconds} s`;
  }

  /** Polls of what is no longer wanted end, new ones begin, and all that has changed is published. */
  async #show(signal: AbortSignal): Promise<void> {
    this.#dropUnwanted();
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
    const stopped = new Error('the account is stopped');
    for (const group of this.#groups) group.abort(stopped);
  }

  /** Reads the key again and again until the signal is aborted; then rejects with its reason. */
  async #readKeyAgain(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#context.clock, keyReadMs, signal);
      // What the old key was refused may be there for the new one.
      if (await this.#context.key.reload()) this.#discoveries.soon();
    }
  }

  /** Polls what is due, again and again, until the signal is aborted; then rejects with its reason. */
  async #pollWhatIsDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    for (;;) {
      signal.throwIfAborted();
      if (this.#fault !== undefined) throw this.#fault.error;
      this.#isWoken = false;
      const { due, nextMs } = this.#table.look();
      void (await this.#start(due, signal));
      const { applications, queries } = this.#table.states;
      const subjects = applications.size + queries.size;
      const judgeMs = this.judge.judgeAgain(subjects);
      await sleep(clock, Math.floor(subjects / subjectsPerMs), signal);
      if (this.#isWoken) continue;
      // The plan may change meanwhile: what is due then depends on it.
      await this.#pause.until(Math.min(nextMs, judgeMs), signal);
    }
  }

  /** Polls these once, now. Resolves to whether everything that was asked for arrived. */
  async #pollAll(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    this.#isOnce = true;
    const ended = await Promise.all(await this.#start(ids, signal));
    signal.throwIfAborted();
    if (this.#fault !== undefined) throw this.#fault.error;
    return ended.every((isWhole) => isWhole);
  }

  /** Ends the polls whose outcome is no longer wanted, without one. What is still there is polled anew. */
  #dropUnwanted(): void {
    // One error for all: ten thousand of them would take as long as all the rest.
    const reason = new Error('the poll is not wanted any more');
    for (const group of this.#groups) this.#dropUnwantedOf(group, reason);
    this.#wake();
  }

  #dropUnwantedOf(group: GroupPoll, reason: Error): void {
    const { states } = this.#table;
    for (const request of group.wanted) {
      if (isStillAsked(request, states)) continue;
      group.drop(request, reason);
      states.end(request.id);
    }
  }

  /** Looks soon at what is due. */
  #wake(): void {
    this.#isWoken = true;
    this.#pause.endAfter(0);
  }

  /** Starts these polls, in several turns of the event loop. Each resolves to whether all of it arrived. */
  async #start(ids: readonly string[], signal: AbortSignal): Promise<readonly Promise<boolean>[]> {
    const { source, clock } = this.#context;
    const { states } = this.#table;
    const polls: Promise<boolean>[] = [];
    const asked: PollRequest[] = [];
    for (const [index, id] of ids.entries()) {
      if (index > 0 && index % pollsPerTurn === 0) await sleep(clock, 0, signal);
      const request = pollRequest(id, states, clock.monotonicMs());
      if (request === undefined || !states.begin(id)) continue;
      const known = this.#knownOutcomeOf(request);
      if (known === undefined) asked.push(request);
      else polls.push(Promise.resolve(this.#ended(request, known)));
    }
    // Only all together fill groups of each kind.
    for (const [index, group] of source.groups(asked, []).entries()) {
      if (index > 0 && index % pollsPerTurn === 0) await sleep(clock, 0, signal);
      polls.push(this.#poll(group));
    }
    return polls;
  }

  async #poll(requests: readonly PollRequest[]): Promise<boolean> {
    const { source } = this.#context;
    const group = new GroupPoll(requests, source);
    this.#groups.add(group);
    // Other turns of the event loop have passed since it was due.
    this.#dropUnwantedOf(group, new Error('it is not wanted any more'));
    const isShared = source.sharesCalls && requests[0]?.kind === 'application';
    const asked = (): readonly PollRequest[] => {
      group.hasBegun = true;
      return isShared ? this.#filled(group) : requests;
    };
    const { job, signal } = group;
    try {
      return await this.#report(group, source.poll(asked, { job, signal }));
    } catch (error) {
      if (!group.signal.aborted && !this.#stopping.signal.aborted) this.#fault = { error };
      return false;
    } finally {
      this.#groups.delete(group);
      // Not before all of it has ended: what was polled together is due together again.
      this.#wake();
    }
  }

  /** In several turns of the event loop, if there are many outcomes. Resolves to whether all arrived. */
  async #report(group: GroupPoll, outcomes: AsyncIterable<Polled>): Promise<boolean> {
    let isAllWhole = true;
    let subjects = 0;
    for await (const polled of outcomes) {
      const request = group.reported(polled.question);
      if (request === undefined) continue;
      const isWhole = this.#ended(request, polled);
      isAllWhole &&= isWhole;
      subjects += 1 + polled.outcome.partCount;
      if (subjects < subjectsPerTurn) continue;
      subjects = 0;
      await sleep(this.#context.clock, 0, this.#stopping.signal);
    }
    return isAllWhole;
  }

  /** A group whose first call is made is filled up with what waits in others, and with what will be due soon. */
  #filled(group: GroupPoll): readonly PollRequest[] {
    const waiting = new Map<PollRequest, GroupPoll>();
    for (const other of this.#groups) {
      if (other.hasBegun || other === group) continue;
      for (const request of other.wanted) {
        if (request.kind === 'application') waiting.set(request, other);
      }
    }
    const may = [...waiting.keys(), ...(this.#isOnce ? [] : this.#early())];
    // What is wanted was one group before: it may be two now, but no less is asked.
    const filled = this.#context.source.groups(group.wanted, may).flat();
    const moved = new Error('the poll belongs to another group');
    for (const request of filled) {
      waiting.get(request)?.drop(request, moved);
      this.#table.states.begin(request.id);
      group.add(request);
    }
    return filled;
  }

  /** What may be polled with others although it is not due yet, in the order in which it will be. */
  #early(): readonly PollRequest[] {
    const { states } = this.#table;
    const nowMs = this.#context.clock.monotonicMs();
    return states
      .early(pollsPerTurn)
      .flatMap((id) => pollRequest(id, states, nowMs) ?? [])
      .filter((request) => this.#knownOutcomeOf(request) === undefined);
  }

  /** Of a poll that need not be tried; `undefined` if it must be. */
  #knownOutcomeOf(request: PollRequest): Polled | undefined {
    return knownOutcomeOf(request, this.#table.refusal, this.#context.source.listsHosts);
  }

  #ended(request: PollRequest, polled: Polled): boolean {
    const { states, refusal } = this.#table;
    const wasUnauthorized = states.get(request.id)?.failure?.reason === 'auth';
    const isWhole = this.#table.ended(request, polled);
    if (polled.outcome.unauthorized && !wasUnauthorized && refusal === undefined) {
      this.#discoveries.soon();
    }
    return isWhole;
  }
}

/** A query of NerdGraph is followed by trials, pieces, single applications, and three sizes of their parts. */
const mostFurtherPolls = 8;

/**
 * Polls once, and again as long as the source has learnt meanwhile that it must ask in another way: the
 * next polls of a daemon would. Resolves to what the last of these polls gave.
 */
export async function pollUntilSettled<Result>(
  source: Source,
  poll: () => Promise<Result>,
): Promise<Result> {
  for (let left = mostFurtherPolls; ; left -= 1) {
    const before = source.costChanges();
    const result = await poll();
    if (left === 0 || source.costChanges() === before) return result;
  }
}
