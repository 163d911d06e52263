import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { ThroughputQuery } from '../model/reading.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { OnWire, Source } from '../model/source.ts';
import { windowAt } from '../model/window.ts';
import type { Call, CallScheduler, Job } from './call-scheduler.ts';
import { hostsToPoll } from './demand.ts';
import { PollAnswers } from './poll-answers.ts';
import type { PollOutcome } from './poll-outcome.ts';

export interface PollRequest {
  readonly selected: SelectedApplication;
  readonly dueMs: number;
  /** From then on its calls need not keep an even distance to each other. */
  readonly overdueMs: number;
  /** The effective interval. */
  readonly periodMs: number;
  /** What has not arrived by then, counted from the first call of the poll, has failed. */
  readonly deadlineMs: number;
  readonly askHostNames: boolean;
  /** Whether the host is still listed: a discovery may have ended since the poll began. */
  readonly isListed: (hostId: string) => boolean;
}

export interface PollDependencies {
  readonly source: Pick<Source, 'hostNames' | 'applicationThroughput' | 'hostThroughput'>;
  readonly scheduler: Pick<CallScheduler, 'add' | 'cancel' | 'stop'>;
  readonly clock: Clock;
  /** Wall time at the vendor. Without it: that of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** A poll that has not ended. */
export interface Poll {
  /** Ends it now, with this reason for its calls under way: its outcome is not told. */
  abort(reason: Error): void;
}

/** Names are a convenience: values that are there wait for them no longer than this. */
const namesGraceMs = 10_000;

/**
 * Asks for one application and all of its hosts, every call for the same window, which is fixed
 * when the first call gets its turn. `ended` follows once, unless the poll is aborted before: when
 * the last call has ended, or at the deadline.
 */
export function startPoll(
  request: PollRequest,
  dependencies: PollDependencies,
  ended: (outcome: PollOutcome) => void,
): Poll {
  return new ApplicationPoll(request, dependencies, ended);
}

class ApplicationPoll implements Poll {
  readonly #request: PollRequest;
  readonly #dependencies: PollDependencies;
  readonly #ended: (outcome: PollOutcome) => void;
  readonly #answers = new PollAnswers();
  readonly #plannedCalls: number;
  readonly #job: Job;
  /** Not before the poll begins: ten thousand may wait for their turn. */
  #abort: AbortController | undefined;
  #namesAbort: AbortController | undefined;
  #cancelDeadline: (() => void) | undefined;
  #cancelNamesGrace: (() => void) | undefined;
  /** Calls for values that have not ended, and one while there are more to begin. */
  #valuesLeft = 1;
  #isOver = false;

  constructor(
    request: PollRequest,
    dependencies: PollDependencies,
    ended: (outcome: PollOutcome) => void,
  ) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#ended = ended;
    const { selected, askHostNames, dueMs, overdueMs, periodMs } = request;
    this.#plannedCalls = 1 + hostsToPoll(selected).length;
    this.#job = {
      key: selected.application.id,
      calls: this.#calls(),
      size: this.#plannedCalls + (askHostNames ? 1 : 0),
      dueMs,
      overdueMs,
      periodMs,
      ended: () => {
        this.#finish();
      },
    };
    dependencies.scheduler.add(this.#job);
  }

  abort(reason: Error): void {
    this.#end();
    this.#breakOff(reason);
  }

  /** The first call has its turn: only now the poll begins. */
  #begin(abort: AbortController): ThroughputQuery {
    const { clock, vendorWallMs = () => clock.wallMs() } = this.#dependencies;
    const { deadlineMs, selected } = this.#request;
    const { poll, transactions } = selected.entry;
    this.#abort = abort;
    setMaxListeners(0, abort.signal);
    this.#cancelDeadline = clock.after(deadlineMs, () => {
      this.#giveUp(deadlineMs);
    });
    const window = windowAt(vendorWallMs(), poll.window, poll.delayMs);
    return { window, transactions, raw: poll.raw };
  }

  *#calls(): Generator<Call, undefined> {
    const abort = new AbortController();
    const { signal } = abort;
    const query = this.#begin(abort);
    const { askHostNames, selected, isListed } = this.#request;
    if (askHostNames) {
      const names = new AbortController();
      this.#namesAbort = names;
      yield async (onWire) => this.#askHostNames(names.signal, onWire);
    }
    yield this.#value(async (onWire) => this.#askApplication(query, signal, onWire));
    for (const hostId of hostsToPoll(selected)) {
      if (this.#answers.isFinal()) break;
      if (isListed(hostId)) {
        yield this.#value(async (onWire) => this.#askHost(hostId, query, signal, onWire));
      } else this.#answers.hostIsGone(hostId);
    }
    this.#valueEnded();
    return undefined;
  }

  #value(call: Call): Call {
    this.#valuesLeft += 1;
    return async (onWire) => {
      const isAnswered = await call(onWire);
      this.#valueEnded();
      return isAnswered;
    };
  }

  #valueEnded(): void {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft > 0 || this.#isOver || !this.#request.askHostNames) return;
    this.#cancelNamesGrace = this.#dependencies.clock.after(namesGraceMs, () => {
      this.#namesAbort?.abort(
        new ApiError('timeout', 'the list of host names took much longer than the values'),
      );
    });
  }

  async #askHostNames(signal: AbortSignal, onWire: OnWire): Promise<boolean> {
    const { id } = this.#request.selected.application;
    return answered(
      async () => {
        const names = await this.#dependencies.source.hostNames(id, signal, onWire);
        this.#answers.hostNames(names);
      },
      (error) => this.#answers.hostNamesFailed(error),
    );
  }

  async #askApplication(
    query: ThroughputQuery,
    signal: AbortSignal,
    onWire: OnWire,
  ): Promise<boolean> {
    const { source } = this.#dependencies;
    const { id } = this.#request.selected.application;
    return answered(
      async () => {
        const answer = await source.applicationThroughput(id, query, signal, onWire);
        this.#answers.application(answer, query);
      },
      (error) => this.#answers.applicationFailed(error),
    );
  }

  async #askHost(
    hostId: string,
    query: ThroughputQuery,
    signal: AbortSignal,
    onWire: OnWire,
  ): Promise<boolean> {
    const { source } = this.#dependencies;
    const { id } = this.#request.selected.application;
    return answered(
      async () => {
        const answer = await source.hostThroughput(id, hostId, query, signal, onWire);
        this.#answers.host(hostId, answer, query);
      },
      (error) => this.#answers.hostFailed(hostId, error),
    );
  }

  #giveUp(deadlineMs: number): void {
    const seconds = Math.round(deadlineMs / 1000);
    const error = new ApiError(
      'timeout',
      `the poll did not end within ${seconds} s: the vendor answers too slowly, or the budget is too small for its retries`,
    );
    this.#answers.givenUp(error);
    this.#finish();
    this.#breakOff(error);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#end();
    const { selected, isListed } = this.#request;
    const hostIds = hostsToPoll(selected).filter(isListed);
    this.#ended(this.#answers.outcome(hostIds, this.#plannedCalls));
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDeadline?.();
    this.#cancelNamesGrace?.();
  }

  #breakOff(reason: Error): void {
    this.#dependencies.scheduler.cancel(this.#job);
    this.#namesAbort?.abort(reason);
    this.#abort?.abort(reason);
  }
}

/** Whether the vendor answered, with what was asked for or with an error of its own. */
async function answered(
  ask: () => Promise<void>,
  failed: (error: ApiError) => void,
): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    const known = asApiError(error);
    failed(known);
    return known.status !== undefined;
  }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed for a reason of our own', { cause: error });
}
