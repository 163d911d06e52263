import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
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
  #cancelTimer: () => void = () => undefined;
  /** What does not end although it is aborted is not waited for. */
  readonly #isOver: Promise<void>;

  constructor(asked: readonly PollRequest[], context: Context) {
    this.#context = context;
    this.#key = asked[0]?.id ?? '';
    this.#wanted = new Map(asked.map((request) => [request, request]));
    setMaxListeners(0, this.signal);
    this.#isOver = new Promise((resolve) => {
      // Lists that are cut short by a deadline still resolve to what they have read.
      const wait = (): void => {
        if (this.signal.reason instanceof ApiError) context.clock.after(0, resolve);
        else resolve();
      };
      this.signal.addEventListener('abort', wait, { once: true });
    });
  }

  /** Aborted when nothing of it is wanted any longer, or by its deadline; then with an `ApiError`. */
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

  /** To be called when everything has been reported. */
  end(): void {
    this.#cancelTimer();
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
    const isFirst = this.#wallMs === undefined;
    const wallMs = this.#wallMs ?? this.#context.vendorClock.wallMs();
    this.#wallMs = wallMs;
    // More may join with the first call.
    let next = calls.next();
    if (isFirst) this.#startDeadline();
    const isRepeated = this.wanted.every(({ hasFailed }) => hasFailed);
    for (; next.done !== true; next = calls.next()) {
      const call = next.value;
      yield async (turn) => call({ turn, signal, wallMs, isRepeated });
    }
    return undefined;
  }

  #startDeadline(): void {
    const deadlineMs = this.#earliest((request) => request.deadlineMs);
    const seconds = Math.round(deadlineMs / 1000);
    this.#cancelTimer = this.#context.clock.after(deadlineMs, () => {
      const error = new ApiError(
        'timeout',
        `the poll did not end within ${seconds} s: New Relic answers too slowly, or the budget is too small for its retries`,
      );
      this.abort(error);
    });
  }

  #earliest(timeOf: (request: PollRequest) => number): number {
    return Math.min(...this.wanted.map(timeOf));
  }
}
