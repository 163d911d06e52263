import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import { sleep } from '../model/clock.ts';
import type { Polled, Source } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import { subjectsPerTurn } from './app-publisher.ts';
import type { Context } from './context.ts';
import { GroupPoll } from './group-poll.ts';
import { Pause } from './pause.ts';
import { isStillAsked, knownOutcomeOf, type PollRequest, requestOf } from './poll-request.ts';

/** The plan may change meanwhile: what is due then depends on it. */
const longestPauseMs = 10_000;
/** Polls started in one turn of the event loop: some milliseconds. */
const pollsPerTurn = 200;
/** A look at ten thousand subjects takes some milliseconds: it is made every quarter of a second at most. */
const subjectsPerMs = 40;

/** Polls each application, and each query, when it is due, and never twice at a time. */
export class PollLoop {
  readonly #table: AccountTable;
  readonly #context: Context;
  /** Those that have not ended. */
  readonly #groups = new Set<GroupPoll>();
  readonly #pause: Pause;
  readonly #stop = new AbortController();
  readonly #unauthorized: () => void;
  /** Whether something has changed since the last look. */
  #isWoken = false;
  /** What a source did not report as an outcome: a fault of this program. */
  #fault: { readonly error: unknown } | undefined;
  /** Whether all is polled once: then nothing joins that was polled already. */
  #pollsAll = false;

  /** @param unauthorized called when the vendor refuses the key for something for which it was accepted before */
  constructor(table: AccountTable, context: Context, unauthorized: () => void) {
    this.#table = table;
    this.#context = context;
    this.#unauthorized = unauthorized;
    this.#pause = new Pause(context.clock);
    setMaxListeners(0, this.#stop.signal);
  }

  /** Polls what is due, again and again, until the signal is aborted; then rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    for (;;) {
      signal.throwIfAborted();
      if (this.#fault !== undefined) throw this.#fault.error;
      this.#isWoken = false;
      const { due, nextMs } = this.#table.look();
      void (await this.#start(due, signal));
      const { applications, queries } = this.#table.states;
      await sleep(clock, Math.floor((applications.size + queries.size) / subjectsPerMs), signal);
      const atMs = Math.min(nextMs, clock.monotonicMs() + longestPauseMs);
      if (!this.#isWoken) await this.#pause.until(atMs, signal);
    }
  }

  /** Looks soon at what is due. */
  wake(): void {
    this.#isWoken = true;
    this.#pause.endAfter(0);
  }

  /**
   * Polls these once, now. Resolves to whether everything that was asked for arrived.
   * Rejects with the signal's reason.
   */
  async pollAll(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    this.#pollsAll = true;
    const ended = await Promise.all(await this.#start(ids, signal));
    signal.throwIfAborted();
    if (this.#fault !== undefined) throw this.#fault.error;
    return ended.every((isWhole) => isWhole);
  }

  /** Ends the polls whose outcome is no longer wanted, without one. What is still there is polled anew. */
  dropUnwanted(): void {
    // One error for all: ten thousand of them would take as long as all the rest.
    const reason = new Error('the poll is not wanted any more');
    for (const group of this.#groups) this.#dropUnwantedOf(group, reason);
    this.wake();
  }

  #dropUnwantedOf(group: GroupPoll, reason: Error): void {
    const { states } = this.#table;
    for (const request of group.wanted) {
      if (isStillAsked(request, states)) continue;
      group.drop(request, reason);
      states.end(request.id);
    }
  }

  /** Ends every poll without an outcome. */
  stop(): void {
    const reason = new Error('the account is stopped');
    this.#stop.abort(reason);
    for (const group of this.#groups) group.abort(reason);
  }

  /** Starts these polls, in several turns of the event loop. Each resolves to whether all of it arrived. */
  async #start(ids: readonly string[], signal: AbortSignal): Promise<readonly Promise<boolean>[]> {
    const { source, clock } = this.#context;
    const { states } = this.#table;
    const polls: Promise<boolean>[] = [];
    const asked: PollRequest[] = [];
    for (const [index, id] of ids.entries()) {
      if (index > 0 && index % pollsPerTurn === 0) await sleep(clock, 0, signal);
      const request = requestOf(id, states, clock.monotonicMs());
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
    const group = new GroupPoll(requests, this.#context);
    this.#groups.add(group);
    // Other turns of the event loop have passed since it was due.
    this.#dropUnwantedOf(group, new Error('it is not wanted any more'));
    const isShared = source.sharesCalls && requests[0]?.kind === 'application';
    const asked = (): readonly PollRequest[] =>
      isShared && group.hasBegun ? this.#filled(group) : requests;
    try {
      return await this.#report(group, source.poll(asked, group, group.signal));
    } catch (error) {
      const isUnwanted = group.signal.aborted && !(group.signal.reason instanceof ApiError);
      if (!isUnwanted && !this.#stop.signal.aborted) this.#fault = { error };
      return false;
    } finally {
      group.end();
      this.#groups.delete(group);
      // Not before all of it has ended: what was polled together is due together again.
      this.wake();
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
      await sleep(this.#context.clock, 0, this.#stop.signal);
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
    // What is wanted was one group before.
    const may = [...waiting.keys(), ...(this.#pollsAll ? [] : this.#early())];
    const [filled = []] = this.#context.source.groups(group.wanted, may);
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
      .flatMap((id) => requestOf(id, states, nowMs) ?? [])
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
      this.#unauthorized();
    }
    return isWhole;
  }
}

/** Divided so often, one bad application of the 200 in a query of NerdGraph stands alone. */
const mostFurtherPolls = 6;

/**
 * Polls once, and again as long as the source has learnt meanwhile that it must ask in another way: the
 * next polls of a daemon would. Resolves to what the last of these polls gave.
 */
export async function pollUntilSettled<Result>(
  source: Pick<Source, 'costChanges'>,
  poll: () => Promise<Result>,
): Promise<Result> {
  for (let left = mostFurtherPolls; ; left -= 1) {
    const before = source.costChanges();
    const result = await poll();
    if (left === 0 || source.costChanges() === before) return result;
  }
}
