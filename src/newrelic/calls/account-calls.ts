import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from '../../model/clock.ts';
import { type AccountConfig, budgetIdOf } from '../../model/config.ts';
import type { Permit, Turn } from '../../model/permit.ts';
import { PriorityQueue } from '../../model/priority-queue.ts';
import { minuteMs } from '../../model/time.ts';
import { forgetUntil, type Key, type KeyAccount, type Keys } from './keys.ts';

/** A call of a job, ready to be sent. It never rejects. */
export type ScheduledCall = (turn: Turn) => Promise<void>;

/** The calls of one stage of a batch. */
export interface Job {
  /** What is polled: if its calls hang, those of the next job with the same key may hang again. */
  readonly key: string;
  /** About how many calls there are. */
  readonly size: number;
  /** When the poll fell due, on the monotonic clock. */
  readonly dueMs: number;
  /** The time that the job may take. */
  readonly periodMs: number;
  /** Taken one by one, when there is room: a poll of 10,000 hosts is not a queue of 10,000. */
  readonly calls: Iterator<ScheduledCall>;
}

/**
 * A poll falls due this share of its period early where the budget does not suffice, and waits for its
 * turn: so there is always a poll to go on with.
 */
export const earlyShare = 0.1;

/** Requests of a job in flight at first; each answer adds one. */
const firstWidth = 2;
/** The deadline of a job moves on after this many of its calls, so that small jobs overtake it. */
const quantum = 64;
/** The factor by which a job may be slower than if it had the budget alone. */
const slowdown = 1.2;
/** Where lists alone would fill the budget, polls get a tenth of it. */
const mostListsInRow = 9;
/** All that hang share this part of the places. */
const hangingShare = 0.25;
/** What fails sooner without an answer does not hang. */
const hangsAfterMs = 1000;
/** Keys of what was removed are never cleared: the bound keeps the map from growing. */
const mostHanging = 10_000;
/** The last answers say how many a place carries, but for those that are slow beside so many others. */
const answers = { counted: 100, fewest: 25, slowFactor: 4, leastSlowMs: 1000 };

/** A request in flight. */
interface Place {
  readonly permit: Permit;
  /** To be called once its call has looked at the answer: that may be the end of its job. */
  readonly end: () => void;
}

interface RunningJob {
  readonly job: Job;
  /** Of jobs with the same deadline the first one ends first. */
  readonly number: number;
  /** Whether it is a list, whose length nobody knows. */
  readonly isList: boolean;
  /** Further requests of calls that have begun, and those of a list. They go first. */
  readonly waiting: ((place: Place) => void)[];
  /** Calls that have begun, and those of them that have not ended. */
  started: number;
  open: number;
  /** Requests in flight, and at most. */
  inFlight: number;
  width: number;
  /** The call after the last one that is expected, once it was looked for. */
  ahead?: IteratorResult<ScheduledCall, unknown> | undefined;
  /** Whether no further call will begin. */
  isExhausted: boolean;
  ended: () => void;
}

const nothing = (): void => undefined;

/**
 * All that one account wants to send, and the key that it sends with: nothing is sent that has not been
 * here.
 *
 * - Lists go first, but nine of ten requests at most. Of jobs the one with the earliest deadline is next; that of
 *   a large job moves on every 64 calls.
 * - At most `concurrency` requests at a time. Of one job two at first, and one more after each answer.
 * - Jobs whose requests hang share a quarter of these places, one request of each, until one is answered.
 */
export class AccountCalls implements KeyAccount {
  readonly name: string;
  readonly budgetId: string;
  requestsPerMinute: number;
  /** For requests that belong to no job: those of lists. */
  readonly lists: Turn = {
    next: async (...asked) => (await this.#wait(this.#list, ...asked)).permit,
  };
  readonly #address: AccountConfig;
  readonly #keys: Keys;
  readonly #clock: Clock;
  /** Runs what is in flight. */
  readonly #places: LimitFunction;
  readonly #ready = new PriorityQueue<RunningJob>();
  /** Those with requests that wait, the oldest first. */
  readonly #readyLists = new Set<RunningJob>();
  /** Those that hang; the one that has waited for longest comes first. */
  readonly #hanging = new PriorityQueue<RunningJob>();
  /** When a request of these jobs hung last, by key; the oldest first. */
  readonly #hungMs = new Map<string, number>();
  /** When the requests of the last minute ended. */
  readonly #endsMs: number[] = [];
  #answersMs: readonly number[] = [];
  #usualMs = 0;
  #key: Key;
  #freePerMinute = Number.POSITIVE_INFINITY;
  #list: RunningJob;
  #inFlightHanging = 0;
  #listsInRow = 0;
  #jobsSoFar = 0;
  #hasLeft = false;

  constructor(options: AccountConfig, apiKey: string, keys: Keys) {
    this.name = options.name;
    this.budgetId = budgetIdOf(options);
    this.#address = options;
    this.#keys = keys;
    this.#clock = keys.clock;
    this.#places = pLimit(options.concurrency);
    this.requestsPerMinute = options.requestsPerMinute;
    this.#list = this.#newList();
    this.#key = keys.find(options, apiKey);
    keys.join(this.#key, this);
  }

  /** The key that it sends with now. */
  get key(): Key {
    return this.#key;
  }

  /** Calls a minute that the account may plan with at present. */
  limitPerMinute(): number {
    return this.#key.sharePerMinute();
  }

  /** Calls a minute that `concurrency` can carry while the vendor answers as fast as it does now. */
  carriedPerMinute(): number {
    return (this.#places.concurrency * minuteMs) / this.#usualMs;
  }

  requestsInFlight(): number {
    return this.#places.activeCount + this.#places.pendingCount;
  }

  /** Requests of the account that are in flight, or ended in the last 60 seconds, with whatever key. */
  requestsLastMinute(): number {
    forgetUntil(this.#endsMs, this.#clock.monotonicMs() - minuteMs);
    return this.requestsInFlight() + this.#endsMs.length;
  }

  /** What a plan leaves free, in calls a minute: what has failed may use it. */
  plan(freePerMinute: number): void {
    this.#freePerMinute = freePerMinute;
  }

  /** Calls a minute for what is asked in smaller parts: a tenth of the limit in any case. */
  sparePerMinute(): number {
    return Math.max(this.#freePerMinute, this.limitPerMinute() / 10);
  }

  /** Requests of lists belong to a new one from now on. */
  beginList(): void {
    this.#list = this.#newList();
  }

  /**
   * Resolves when every call of the job has ended and no further one will begin. After an abort none begins;
   * those under way have to see the signal for themselves.
   */
  async run(job: Job, signal: AbortSignal): Promise<void> {
    const running = this.#newJob(job, { isList: false, width: firstWidth });
    const ended = new Promise<void>((resolve) => (running.ended = resolve));
    const stop = (): void => {
      running.isExhausted = true;
      this.#changed(running);
    };
    signal.addEventListener('abort', stop, { once: true });
    running.isExhausted = signal.aborted;
    this.#changed(running);
    await ended;
    signal.removeEventListener('abort', stop);
  }

  /** Sets other limits of the account. */
  resize(next: Pick<AccountConfig, 'requestsPerMinute' | 'concurrency'>): void {
    this.requestsPerMinute = next.requestsPerMinute;
    this.#places.concurrency = next.concurrency;
    if (!this.#hasLeft) this.#key.accountsChanged();
  }

  /** Moves to another key. Requests in flight keep theirs. */
  rekey(apiKey: string): void {
    if (apiKey === this.#key.apiKey || this.#hasLeft) return;
    const before = this.#key;
    this.#key = this.#keys.find(this.#address, apiKey);
    this.#keys.join(this.#key, this);
    before.leave(this);
  }

  /** The account sends nothing more. Its limit holds until the end of this turn: another one may join by then. */
  leave(): void {
    this.#hasLeft = true;
    this.#key.leave(this);
  }

  wantsToSend(): boolean {
    return this.requestsInFlight() < this.#places.concurrency && this.#next() !== undefined;
  }

  sendNext(): boolean {
    for (let running = this.#next(); running !== undefined; running = this.#next()) {
      const grant = running.waiting.shift() ?? this.#nextCall(running);
      if (grant === undefined) continue;
      this.#listsInRow = running.isList ? this.#listsInRow + 1 : 0;
      grant(this.#take(running));
      return true;
    }
    return false;
  }

  /** The job whose request is next; `undefined` if none waits that may go. */
  #next(): RunningJob | undefined {
    const first = this.#ready.first();
    const [list] = this.#readyLists;
    const isPollWaiting = first !== undefined || this.#hanging.first() !== undefined;
    if (list !== undefined && (this.#listsInRow < mostListsInRow || !isPollWaiting)) return list;
    const most = Math.max(1, Math.floor(hangingShare * this.#places.concurrency));
    const tried = this.#inFlightHanging < most ? this.#hanging.first() : undefined;
    if (first === undefined || tried === undefined) return tried ?? first;
    return this.#deadlineMsOf(tried) <= this.#ready.firstPriority() ? tried : first;
  }

  /** A job finds out that it has no call left without a place and without budget. */
  #nextCall(running: RunningJob): ((place: Place) => void) | undefined {
    const { calls, size } = running.job;
    const { value: call, done } = running.ahead ?? calls.next();
    running.ahead = undefined;
    if (done === true) {
      running.isExhausted = true;
      this.#update(running);
      return undefined;
    }
    running.started += 1;
    running.open += 1;
    if (running.started >= size && !running.isExhausted) {
      running.ahead = calls.next();
      running.isExhausted = running.ahead.done === true;
    }
    return (place) => {
      void this.#run(running, call, place);
    };
  }

  async #run(running: RunningJob, call: ScheduledCall, first: Place): Promise<void> {
    let place: Place | undefined;
    let next: Place | undefined = first;
    await call({
      next: async (delayMs, signal) => {
        place?.end();
        place = next;
        next = undefined;
        place ??= await this.#wait(running, delayMs, signal);
        return place.permit;
      },
    });
    place?.end();
    next?.end();
    running.open -= 1;
    this.#update(running);
  }

  async #wait(running: RunningJob, delayMs: number, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        cancelTimer();
        const index = running.waiting.indexOf(grant);
        if (index !== -1) running.waiting.splice(index, 1);
        this.#changed(running);
        reject(signal.reason);
      };
      const grant = (place: Place): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(place);
      };
      const join = (): void => {
        running.waiting.push(grant);
        this.#changed(running);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const cancelTimer = delayMs > 0 ? this.#clock.after(delayMs, join) : nothing;
      if (delayMs <= 0) join();
    });
  }

  #take(running: RunningJob): Place {
    const key = this.#key;
    const sentMs = this.#clock.monotonicMs();
    const isHanging = this.#hungMs.has(running.job.key);
    let isSent = false;
    let giveBack = nothing;
    const isOver = new Promise<void>((resolve) => (giveBack = resolve));
    void this.#places(async () => isOver).then(() => this.#key.pump());
    key.take();
    running.inFlight += 1;
    this.#inFlightHanging += isHanging ? 1 : 0;
    this.#update(running);
    const end = (): void => {
      if (!isSent) key.ended(false);
      running.inFlight -= 1;
      this.#inFlightHanging -= isHanging ? 1 : 0;
      this.#update(running);
      giveBack();
    };
    const release: Permit['release'] = (isAnswered) => {
      isSent = true;
      const nowMs = this.#clock.monotonicMs();
      forgetUntil(this.#endsMs, nowMs - minuteMs);
      this.#endsMs.push(nowMs);
      this.#released(running, isAnswered, nowMs - sentMs);
      key.ended(true);
      if (running.isList) end();
    };
    const throttled: Permit['throttled'] = (one) => {
      // A list that is refused again and again must not keep polls from going.
      if (running.isList) this.#listsInRow = mostListsInRow;
      key.throttled(one);
    };
    return { permit: { apiKey: key.apiKey, throttled, release }, end };
  }

  #released(running: RunningJob, isAnswered: boolean | undefined, tookMs: number): void {
    const { key } = running.job;
    if (isAnswered === true) {
      this.#answersMs = [...this.#answersMs.slice(1 - answers.counted), tookMs];
      this.#usualMs = usualOf(this.#answersMs);
      // However long it took: what is always slow is not what hangs.
      running.width += 1;
      this.#hungMs.delete(key);
    } else if (isAnswered === false && tookMs >= hangsAfterMs && !running.isList) {
      this.#hungMs.delete(key);
      this.#hungMs.set(key, this.#clock.monotonicMs());
      const [oldest] = this.#hungMs.keys();
      if (this.#hungMs.size > mostHanging && oldest !== undefined) this.#hungMs.delete(oldest);
    }
  }

  #newJob(job: Job, kind: Pick<RunningJob, 'isList' | 'width'>): RunningJob {
    this.#jobsSoFar += 1;
    const none = { started: 0, open: 0, inFlight: 0, waiting: [], isExhausted: false };
    return { job, number: this.#jobsSoFar, ...none, ...kind, ended: nothing };
  }

  #newList(): RunningJob {
    const calls = { next: () => ({ done: true as const, value: undefined }) };
    const job = { key: '', size: 0, dueMs: 0, periodMs: 0, calls };
    return { ...this.#newJob(job, { isList: true, width: Infinity }), isExhausted: true };
  }

  #changed(running: RunningJob): void {
    this.#update(running);
    this.#key.pump();
  }

  /** Puts the job where it now belongs, or takes it out. To be called after every change of it. */
  #update(running: RunningJob): void {
    const { job, number, isList, waiting, isExhausted, open, inFlight, width } = running;
    const hungMs = isList ? undefined : this.#hungMs.get(job.key);
    const isReady =
      (!isExhausted || waiting.length > 0) && inFlight < (hungMs === undefined ? width : 1);
    this.#ready.delete(running);
    this.#hanging.delete(running);
    if (isList) this.#updateList(running, isReady);
    else if (isReady && hungMs !== undefined) this.#hanging.set(running, hungMs, number);
    else if (isReady) this.#ready.set(running, this.#deadlineMsOf(running), number);
    if (isExhausted && open === 0) running.ended();
  }

  #updateList(list: RunningJob, isReady: boolean): void {
    if (isReady) this.#readyLists.add(list);
    else this.#readyLists.delete(list);
  }

  /** Polls begin a little early. A large job has more time, up to its whole period. */
  #deadlineMsOf({ job, started }: RunningJob): number {
    const { size, dueMs, periodMs } = job;
    const calls = Math.min(size, Math.ceil((started + 1) / quantum) * quantum);
    const neededMs = (slowdown * minuteMs * calls) / this.limitPerMinute();
    return dueMs + earlyShare * periodMs + Math.min(periodMs, neededMs);
  }
}

/** The mean of the answers that are not slow beside the others; 0 if there are none. */
function usualOf(answersMs: readonly number[]): number {
  const medianMs = answersMs.toSorted((a, b) => a - b)[answersMs.length >> 1] ?? 0;
  const isKnown = answersMs.length >= answers.fewest;
  const slowMs = Math.max(answers.leastSlowMs, isKnown ? answers.slowFactor * medianMs : 0);
  const usual = answersMs.filter((ms) => ms <= slowMs);
  return usual.reduce((sum, ms) => sum + ms, 0) / Math.max(1, usual.length);
}
