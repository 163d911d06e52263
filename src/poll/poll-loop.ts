import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import { sleep } from '../model/clock.ts';
import { queryIdOf } from '../model/snapshot.ts';
import type { Polled, Question, Source } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import { subjectsPerTurn } from './app-publisher.ts';
import type { Context } from './context.ts';
import { GroupPoll } from './group-poll.ts';
import { Pause } from './pause.ts';
import type { PollRequest } from './poll-request.ts';

/** A poll that has not ended. */
interface RunningPoll {
  readonly request: PollRequest;
  readonly group: GroupPoll;
  /** When it was queued, in monotonic time. */
  readonly startMs: number;
}

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
  /** By id. */
  readonly #polls = new Map<string, RunningPoll>();
  /** Polls that are due and in no group yet, by id. */
  readonly #gathered = new Map<string, PollRequest>();
  readonly #pause: Pause;
  readonly #stop = new AbortController();
  readonly #unauthorized: () => void;
  /** When to look next at the latest, and at the earliest. */
  #wakeMs = Number.POSITIVE_INFINITY;
  #soonestMs = Number.NEGATIVE_INFINITY;
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
      const { applications, queries } = this.#table.states;
      const lookedMs = clock.monotonicMs();
      this.#soonestMs = lookedMs + Math.floor((applications.size + queries.size) / subjectsPerMs);
      this.#wakeMs = lookedMs + longestPauseMs;
      const { due, nextMs } = this.#table.look();
      void (await this.#start(due, signal));
      const wakeMs = Math.min(nextMs, this.#wakeMs);
      await this.#pause.until(Math.max(wakeMs, this.#soonestMs), signal);
    }
  }

  /** Looks no later than that at what is due. Default: as soon as possible. */
  wake(atMs: number = this.#context.clock.monotonicMs()): void {
    this.#wakeMs = Math.min(this.#wakeMs, atMs);
    this.#pause.endBy(Math.max(atMs, this.#soonestMs));
  }

  /**
   * Polls these once, now. Resolves to whether everything that was asked for arrived.
   * Rejects with the signal's reason.
   */
  async pollAll(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    this.#pollsAll = true;
    const polls = await this.#start(ids, signal);
    const ended = await Promise.all(polls);
    signal.throwIfAborted();
    if (this.#fault !== undefined) throw this.#fault.error;
    return ended.every((isWhole) => isWhole);
  }

  /** Ends these polls without an outcome. What is still wanted is polled again. */
  abort(ids: Iterable<string>): void {
    // One error for all: ten thousand of them would take as long as all the rest.
    const reason = new Error('the poll is not wanted any more');
    for (const id of ids) {
      const poll = this.#polls.get(id);
      if (!this.#gathered.delete(id) && poll === undefined) continue;
      this.#polls.delete(id);
      poll?.group.drop(poll.request, reason);
      this.#table.states.end(id);
    }
  }

  /** Ends every poll without an outcome. */
  stop(): void {
    const reason = new Error('the account is stopped');
    this.#stop.abort(reason);
    const polls = [...this.#polls.values()];
    this.#polls.clear();
    this.#gathered.clear();
    for (const { group, request } of polls) group.drop(request, reason);
  }

  /** Starts these polls, in several turns of the event loop. Each resolves to whether all of it arrived. */
  async #start(ids: readonly string[], signal: AbortSignal): Promise<readonly Promise<boolean>[]> {
    const { source } = this.#context;
    const polls: Promise<boolean>[] = [];
    for (let at = 0; at < ids.length; at += pollsPerTurn) {
      if (at > 0) await sleep(this.#context.clock, 0, signal);
      for (const id of ids.slice(at, at + pollsPerTurn)) {
        const isUnderWay = this.#polls.has(id) || this.#gathered.has(id);
        const request = isUnderWay ? undefined : this.#table.begin(id);
        const known = request && this.#table.knownOutcomeOf(request);
        if (known) {
          polls.push(Promise.resolve(this.#ended(known, this.#context.clock.monotonicMs())));
          this.wake(this.#nextMs(id));
        } else if (request) this.#gathered.set(id, request);
      }
      // Only all together fill groups of each kind.
      if (source.sharesCalls && at + pollsPerTurn < ids.length) continue;
      const groups = source.groups([...this.#gathered.values()], []);
      this.#gathered.clear();
      polls.push(...groups.map(async (group) => this.#poll(group)));
    }
    return polls;
  }

  async #poll(asked: readonly PollRequest[]): Promise<boolean> {
    const { source, clock } = this.#context;
    const group = new GroupPoll(asked, this.#context);
    const startMs = clock.monotonicMs();
    for (const request of asked) this.#polls.set(request.id, { request, group, startMs });
    const isShared = source.sharesCalls && asked[0]?.kind === 'application';
    const filled = (): readonly PollRequest[] =>
      isShared && group.hasBegun ? this.#filled(group) : asked;
    try {
      return await this.#report(group, source.poll(filled, group, group.signal));
    } catch (error) {
      const isUnwanted = group.signal.aborted && !(group.signal.reason instanceof ApiError);
      if (!isUnwanted && !this.#stop.signal.aborted) this.#fault = { error };
      this.wake();
      return false;
    } finally {
      group.end();
    }
  }

  /** In several turns of the event loop, if there are many outcomes. Resolves to whether all arrived. */
  async #report(group: GroupPoll, outcomes: AsyncIterable<Polled>): Promise<boolean> {
    let isAllWhole = true;
    let subjects = 0;
    let nextMs = Number.POSITIVE_INFINITY;
    for await (const polled of outcomes) {
      const poll = this.#polls.get(idOf(polled.question));
      if (poll?.request !== polled.question) continue;
      const { id } = poll.request;
      this.#polls.delete(id);
      group.reported(poll.request);
      const isWhole = this.#ended(polled, poll.startMs);
      isAllWhole &&= isWhole;
      nextMs = Math.min(nextMs, this.#nextMs(id));
      subjects += 1 + polled.outcome.partCount;
      if (subjects < subjectsPerTurn) continue;
      subjects = 0;
      await sleep(this.#context.clock, 0, this.#stop.signal);
    }
    // Not before all of it has ended: what was polled together is due together again.
    this.wake(nextMs);
    return isAllWhole;
  }

  /** A group whose first call is made is filled up with what waits in others, and with what will be due soon. */
  #filled(group: GroupPoll): readonly PollRequest[] {
    const { source, clock } = this.#context;
    const nowMs = clock.monotonicMs();
    const waiting = [...this.#polls.values()].filter(
      ({ group: other, request }) =>
        request.kind === 'application' && !other.hasBegun && other !== group,
    );
    const early = this.#pollsAll ? [] : this.#table.early(pollsPerTurn);
    const may = [...waiting.map(({ request }) => request), ...early];
    // What is wanted was one group before.
    const [filled = []] = source.groups([...group.wanted], may);
    const taken = new Set(filled);
    const moved = new Error('the poll belongs to another group');
    for (const { request, group: other, startMs } of waiting) {
      if (!taken.has(request)) continue;
      this.#join(group, request, startMs);
      other.drop(request, moved);
    }
    for (const request of early) {
      if (!taken.has(request)) continue;
      this.#table.states.begin(request.id);
      this.#join(group, request, nowMs);
    }
    return filled;
  }

  #join(group: GroupPoll, request: PollRequest, startMs: number): void {
    group.add(request);
    this.#polls.set(request.id, { request, group, startMs });
  }

  #ended(polled: Polled, startMs: number): boolean {
    const { states, isRefused } = this.#table;
    const { stretch } = states;
    const id = idOf(polled.question);
    const wasUnauthorized = states.get(id)?.failure?.reason === 'auth';
    const isWhole = this.#table.ended(id, polled, startMs);
    if (polled.outcome.unauthorized && !wasUnauthorized && !isRefused) this.#unauthorized();
    // With a new plan others may be due earlier.
    if (states.stretch < stretch) this.wake();
    return isWhole;
  }

  /** When something happens next to what has just been polled; infinite if it is no longer there. */
  #nextMs(id: string): number {
    const { states } = this.#table;
    const state = states.get(id);
    return state === undefined ? Number.POSITIVE_INFINITY : states.nextEventMs(state);
  }
}

function idOf(question: Question): string {
  return question.kind === 'query' ? queryIdOf(question.query) : question.selected.application.id;
}

/** Divided so often, one bad application of the 200 in a query of NerdGraph stands alone. */
const mostFurtherPolls = 4;

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
