import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { ThroughputQuery } from '../model/snapshot.ts';
import { windowAt } from '../model/window.ts';
import type { Call, CallScheduler, Job } from './call-scheduler.ts';
import { hostsToPoll } from './demand.ts';
import { hostSelectorOf } from './host-names.ts';
import { PollAnswers } from './poll-answers.ts';
import { createPollCalls, type PollCalls, type PollSource } from './poll-calls.ts';
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
  /** The names that are known before it, by host id. */
  readonly hostNames: ReadonlyMap<string, string>;
  /** Whether the host is still listed: a discovery may have ended since the poll began. */
  readonly isListed: (hostId: string) => boolean;
}

export interface PollDependencies {
  readonly source: PollSource;
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
 * Asks for one application and the hosts that its entry chooses, every call for the same window, which
 * is fixed when the first of these calls gets its turn. Where hosts are chosen by names that are not
 * known, it asks for the names before. `ended` follows once, unless the poll is aborted before: when
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
  readonly #calls: PollCalls;
  /** Whether it is only known by their names which hosts there are to ask for. */
  readonly #isByName: boolean;
  #hostIds: readonly string[];
  #plannedCalls = 0;
  #isAskingNamesFirst = false;
  #isGivenUp = false;
  #job: Job | undefined;
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
    const { selected, askHostNames } = request;
    this.#calls = createPollCalls(selected, {
      source: dependencies.source,
      answers: this.#answers,
    });
    this.#isByName = hostSelectorOf(selected) !== undefined;
    this.#hostIds = hostsToPoll(selected);
    if (askHostNames && this.#isByName) this.#askNamesFirst();
    else this.#askValues();
  }

  abort(reason: Error): void {
    this.#end();
    this.#breakOff(reason);
  }

  #askNamesFirst(): void {
    this.#isAskingNamesFirst = true;
    this.#add(1, this.#nameCalls(), () => {
      if (this.#isOver) return;
      this.#isAskingNamesFirst = false;
      const { selected, hostNames } = this.#request;
      this.#answers.concludeFromNames(selected);
      this.#hostIds = hostsToPoll(this.#answers.namedHosts(selected, hostNames));
      const isNothingAsked = this.#hostIds.length === 0 && !selected.entry.application;
      if (isNothingAsked || this.#isGivenUp || this.#answers.isFinal()) this.#finish();
      else this.#askValues();
    });
  }

  #askValues(): void {
    const { selected, askHostNames } = this.#request;
    this.#plannedCalls = (selected.entry.application ? 1 : 0) + this.#hostIds.length;
    const isWithNames = askHostNames && !this.#isByName;
    this.#add(this.#plannedCalls + (isWithNames ? 1 : 0), this.#valueCalls(isWithNames), () => {
      this.#finish();
    });
  }

  #add(size: number, calls: Iterator<Call>, ended: () => void): void {
    const { selected, dueMs, overdueMs, periodMs } = this.#request;
    const key = selected.application.id;
    this.#job = { key, calls, size, dueMs, overdueMs, periodMs, ended };
    this.#dependencies.scheduler.add(this.#job);
  }

  /** The first call has its turn: only now the poll begins. */
  #begin(): AbortSignal {
    if (this.#abort !== undefined) return this.#abort.signal;
    const { deadlineMs } = this.#request;
    this.#abort = new AbortController();
    setMaxListeners(0, this.#abort.signal);
    this.#cancelDeadline = this.#dependencies.clock.after(deadlineMs, () => {
      this.#giveUp(deadlineMs);
    });
    return this.#abort.signal;
  }

  *#nameCalls(): Generator<Call, undefined> {
    yield this.#calls.hostNames(this.#begin());
    return undefined;
  }

  *#valueCalls(isWithNames: boolean): Generator<Call, undefined> {
    const signal = this.#begin();
    const { selected, isListed } = this.#request;
    const query = this.#query();
    if (isWithNames) {
      this.#namesAbort = new AbortController();
      yield this.#calls.hostNames(this.#namesAbort.signal);
    }
    if (selected.entry.application) yield this.#value(this.#calls.application(query, signal));
    for (const hostId of this.#hostIds) {
      if (this.#answers.isFinal()) break;
      if (isListed(hostId)) yield this.#value(this.#calls.host(hostId, query, signal));
      else this.#answers.hostIsGone(hostId);
    }
    this.#valueEnded();
    return undefined;
  }

  #query(): ThroughputQuery {
    const { clock, vendorWallMs = () => clock.wallMs() } = this.#dependencies;
    const { poll, transactions } = this.#request.selected.entry;
    const window = windowAt(vendorWallMs(), poll.window, poll.delayMs);
    return { window, transactions, raw: poll.raw };
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
    if (this.#valuesLeft > 0 || this.#isOver || this.#namesAbort === undefined) return;
    this.#cancelNamesGrace = this.#dependencies.clock.after(namesGraceMs, () => {
      this.#namesAbort?.abort(
        new ApiError('timeout', 'the list of host names took much longer than the values'),
      );
    });
  }

  #giveUp(deadlineMs: number): void {
    const seconds = Math.round(deadlineMs / 1000);
    const error = new ApiError(
      'timeout',
      `the poll did not end within ${seconds} s: the vendor answers too slowly, or the budget is too small for its retries`,
    );
    this.#isGivenUp = true;
    this.#answers.givenUp(error);
    if (this.#isAskingNamesFirst) {
      // The look-up ends with the names that came.
      this.#abort?.abort(error);
      return;
    }
    this.#finish();
    this.#breakOff(error);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#end();
    const { selected, isListed } = this.#request;
    const hostIds = this.#hostIds.filter(isListed);
    const { application } = selected.entry;
    const asked = { application, hostIds, isByName: this.#isByName };
    this.#ended(this.#answers.outcome(asked, this.#plannedCalls));
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDeadline?.();
    this.#cancelNamesGrace?.();
  }

  #breakOff(reason: Error): void {
    if (this.#job !== undefined) this.#dependencies.scheduler.cancel(this.#job);
    this.#namesAbort?.abort(reason);
    this.#abort?.abort(reason);
  }
}
