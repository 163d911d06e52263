import { setMaxListeners } from 'node:events';
import type { Job } from '../model/permit.ts';
import type { Question, Source } from '../model/source.ts';
import { totalOf } from './account-plan.ts';
import type { PollRequest } from './poll-request.ts';

/**
 * What is polled together. The poll begins when its first call may leave; until then it only waits. The earliest
 * times of its subjects are the times of the poll.
 */
export class GroupPoll {
  /** Its place in the order of the account's calls. */
  readonly job: Job;
  readonly #wanted: Map<Question, PollRequest>;
  readonly #stop = new AbortController();
  /** Whether its first call may leave, or has left. */
  hasBegun = false;

  constructor(asked: readonly PollRequest[], source: Source) {
    this.job = {
      key: asked[0]?.id ?? '',
      size: totalOf(source.cost(asked)),
      dueMs: Math.min(...asked.map(({ dueMs }) => dueMs)),
      periodMs: Math.min(...asked.map(({ periodMs }) => periodMs)),
    };
    this.#wanted = new Map(asked.map((request) => [request, request]));
    setMaxListeners(0, this.signal);
  }

  /** Aborted when nothing of it is wanted any longer. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What is asked for, and whose outcome is still wanted. */
  get wanted(): readonly PollRequest[] {
    return [...this.#wanted.values()];
  }

  add(request: PollRequest): void {
    this.#wanted.set(request, request);
  }

  /** Its outcome is known. Returns what was asked, if that is still wanted. */
  reported(question: Question): PollRequest | undefined {
    const request = this.#wanted.get(question);
    this.#wanted.delete(question);
    return request;
  }

  /** Its outcome is no longer wanted. When none is, the calls are aborted with this reason. */
  drop(request: PollRequest, reason: Error): void {
    this.#wanted.delete(request);
    if (this.#wanted.size === 0) this.abort(reason);
  }

  abort(reason: Error): void {
    this.#stop.abort(reason);
  }
}
