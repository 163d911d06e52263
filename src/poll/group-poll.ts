import { setMaxListeners } from 'node:events';
import type { Call, PollCalls, Question } from '../model/source.ts';
import { minuteMs } from '../model/time.ts';
import type { ScheduledCall } from '../newrelic/calls/account-calls.ts';
import type { Context } from './context.ts';
import type { PollRequest } from './poll-request.ts';

/**
 * What is polled together, and its place in the queue of the account. The poll begins with its first call;
 * until then it only waits. The earliest times of its subjects are the times of the poll.
 */
export class GroupPoll implements PollCalls {
  readonly #context: Context;
  readonly #key: string;
  readonly #wanted: Map<Question, PollRequest>;
  readonly #stop = new AbortController();
  /** The vendor's wall time when the poll began. */
  #wallMs: number | undefined;
  /** What does not end although it is aborted is not waited for. */
  readonly #isOver: Promise<void>;

  constructor(asked: readonly PollRequest[], context: Context) {
    this.#context = context;
    this.#key = asked[0]?.id ?? '';
    this.#wanted = new Map(asked.map((request) => [request, request]));
    setMaxListeners(0, this.signal);
    this.#isOver = new Promise((resolve) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Aborted when nothing of it is wanted any longer. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What is asked for, and whose outcome is still wanted. */
  get wanted(): readonly PollRequest[] {
    return [...this.#wanted.values()];
  }

  get hasBegun(): boolean {
    return this.#wallMs !== undefined;
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

  async run(size: () => number, calls: Iterator<Call, undefined>): Promise<void> {
    const job = {
      key: this.#key,
      get size() {
        return size();
      },
      dueMs: this.#earliest(({ dueMs }) => dueMs),
      periodMs: this.#earliest(({ periodMs }) => periodMs),
      calls: this.#scheduled(calls),
    };
    await Promise.race([this.#context.calls.run(job, this.signal), this.#isOver]);
  }

  spare(): number {
    const minutes = this.#earliest(({ periodMs }) => periodMs) / minuteMs;
    return this.#context.calls.sparePerMinute() * minutes;
  }

  *#scheduled(calls: Iterator<Call, undefined>): Generator<ScheduledCall, undefined> {
    const { signal } = this;
    const wallMs = this.#wallMs ?? this.#context.vendorClock.wallMs();
    this.#wallMs = wallMs;
    // More may join with the first call.
    let next = calls.next();
    const isRepeated = this.wanted.every(({ hasFailed }) => hasFailed);
    for (; next.done !== true; next = calls.next()) {
      const call = next.value;
      yield async (turn) => call({ turn, signal, wallMs, isRepeated });
    }
    return undefined;
  }

  #earliest(timeOf: (request: PollRequest) => number): number {
    return Math.min(...this.wanted.map(timeOf));
  }
}
