import type { Clock } from '../../model/clock.ts';
import { type AccountConfig, budgetIdOf } from '../../model/config.ts';
import type { Job, Permit } from '../../model/permit.ts';
import { PriorityQueue } from '../../model/priority-queue.ts';
import { minuteMs } from '../../model/time.ts';
import { forgetUntil, type Key, type KeyAccount, type Keys } from './keys.ts';

/**
 * A poll falls due this share of its period early where the budget does not suffice, and waits for its
 * turn: so there is always a poll to go on with.
 */
export const earlyShare = 0.1;

/** Calls of a job in flight at first; each answer adds one. */
const firstWidth = 2;
/** The factor by which a job may be slower than if it had the budget alone. */
const slowdown = 1.2;
/** Of two jobs that are due, the one with the shorter period is later by a larger share of it. */
const shareOfPeriod = 0.5;
/** Where lists alone would fill the budget, polls get a tenth of it. */
const mostListsInRow = 9;
/** What fails sooner without an answer does not hang. */
const hangsAfterMs = 1000;
/** Keys of what was removed are never cleared: the bound keeps the set from growing. */
const mostHanging = 10_000;
/** The last answers say how many a place carries, but for those that are slow beside so many others. */
const answers = { counted: 100, fewest: 25, slowFactor: 4, leastSlowMs: 1000 };

/** A call that waits. Without a job it is one of a list. */
interface Waiter {
  readonly job: Job | undefined;
  readonly grant: (permit: Permit) => void;
}

/** The calls of one job, of all lists, or of all jobs that hang: they go one after the other. */
interface WaitingLine {
  /** Of lines with the same deadline the first one goes first. */
  readonly order: number;
  readonly waiting: Set<Waiter>;
  inFlight: number;
  /** Calls in flight at most. */
  width: number;
  /** In the queue of what may go; `undefined` if none may. */
  queued: Queued | undefined;
}

/** A line in the queue, unless it is there anew by now. */
type Queued = Readonly<{ line: WaitingLine; priority: number; order: number }>;

/**
 * The order of all that one account wants to send, and the key that it sends with: nothing is sent without a
 * permit from here.
 *
 * - Lists go first, but nine of ten calls at most. Of jobs the one with the earliest deadline is next: that of a
 *   large one is as much later as it takes.
 * - At most `concurrency` calls at a time. Of one job two at first, and one more after each answer.
 * - All jobs whose calls hang are one line of one place, which widens as they are answered again.
 */
export class AccountCalls implements KeyAccount {
  readonly name: string;
  readonly budgetId: string;
  requestsPerMinute: number;
  /** Calls at a time. */
  concurrency: number;
  readonly #address: AccountConfig;
  readonly #keys: Keys;
  readonly #clock: Clock;
  readonly #lines = new WeakMap<Job, WaitingLine>();
  readonly #lists: WaitingLine;
  readonly #hanging: WaitingLine;
  /** The lines of jobs, and that of what hangs, of which a call may go. */
  readonly #ready = new PriorityQueue<Queued>();
  /** What hung when it was last polled; the oldest first. */
  readonly #hung = new Set<string>();
  /** When the calls of the last minute ended. */
  readonly #endsMs: number[] = [];
  #answersMs: readonly number[] = [];
  #usualMs = 0;
  #key: Key;
  #freePerMinute = Number.POSITIVE_INFINITY;
  /** When New Relic last let a call of a list through. */
  listEndedMs: number = Number.NEGATIVE_INFINITY;
  /** When those in flight left, the oldest first. */
  readonly #sent = new Set<{ readonly sentMs: number }>();
  #listsInRow = 0;
  /** Calls of lists that were refused since one was let through. */
  #listRefusals = 0;
  #linesSoFar = 0;
  #hasLeft = false;

  constructor(options: AccountConfig, apiKey: string, keys: Keys) {
    this.name = options.name;
    this.budgetId = budgetIdOf(options);
    this.#address = options;
    this.#keys = keys;
    this.#clock = keys.clock;
    this.concurrency = options.concurrency;
    this.requestsPerMinute = options.requestsPerMinute;
    this.#lists = this.#newLine(Number.POSITIVE_INFINITY);
    this.#hanging = this.#newLine(1);
    this.#key = keys.find(options, apiKey);
    this.#key.join(this);
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
    return (this.concurrency * minuteMs) / this.#usualMs;
  }

  /** The share of the limit that can be sent: a call counts until a minute after its end. A plan covers a second. */
  shareInTime(): number {
    return minuteMs / (minuteMs + 1000 * Math.floor(this.#usualMs / 1000));
  }

  requestsInFlight(): number {
    return this.#sent.size;
  }

  /** Monotonic time at which the oldest request in flight left; `undefined` if there is none. */
  oldestSentMs(): number | undefined {
    const [oldest] = this.#sent;
    return oldest?.sentMs;
  }

  /** Requests of the account that are in flight, or ended in the last 60 seconds, with whatever key. */
  requestsLastMinute(): number {
    forgetUntil(this.#endsMs, this.#clock.monotonicMs() - minuteMs);
    return this.#sent.size + this.#endsMs.length;
  }

  /** What a plan leaves free, in calls a minute: what has failed may use it. */
  plan(freePerMinute: number): void {
    this.#freePerMinute = freePerMinute;
  }

  /** Calls a minute for what is asked in smaller parts: a tenth of the limit in any case. */
  sparePerMinute(): number {
    return Math.max(this.#freePerMinute, this.limitPerMinute() / 10);
  }

  /**
   * Waits until the next call of the job may leave: its first one, a further page, a retry. Rejects with the
   * signal's reason, or with an `ApiError` if it has waited for too long.
   *
   * @param job `undefined` for a list
   */
  async take(job: Job | undefined, signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      let cancelTimer: (() => void) | undefined;
      const end = (): void => {
        cancelTimer?.();
        signal.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        job,
        grant: (permit) => {
          end();
          resolve(permit);
        },
      };
      const refuse = (reason: unknown): void => {
        end();
        for (const line of [this.#lists, this.#hanging, job && this.#lines.get(job)]) {
          if (line?.waiting.delete(waiter) === true) this.#changed(line);
        }
        reject(reason);
      };
      const onAbort = (): void => refuse(signal.reason);
      const look = (): void => {
        const { patience } = this.#keys;
        const leftMs = patience?.leftMs(this.#key.apiKey) ?? Number.POSITIVE_INFINITY;
        if (leftMs <= 0) refuse(patience?.error());
        else if (Number.isFinite(leftMs)) cancelTimer = this.#clock.after(leftMs, look);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const line = this.#lineOf(job);
      line.waiting.add(waiter);
      this.#changed(line);
      if (line.waiting.has(waiter)) look();
    });
  }

  /** Sets other limits of the account. */
  resize(next: Pick<AccountConfig, 'requestsPerMinute' | 'concurrency'>): void {
    this.requestsPerMinute = next.requestsPerMinute;
    this.concurrency = next.concurrency;
    if (!this.#hasLeft) this.#key.accountsChanged();
  }

  /** Moves to another key. Requests in flight keep theirs. */
  rekey(apiKey: string): void {
    if (apiKey === this.#key.apiKey || this.#hasLeft) return;
    const before = this.#key;
    this.#key = this.#keys.find(this.#address, apiKey);
    this.#key.join(this);
    before.leave(this);
  }

  /** The account sends nothing more. Its limit holds until the end of this turn: another one may join by then. */
  leave(): void {
    this.#hasLeft = true;
    this.#key.leave(this);
  }

  wantsToSend(): boolean {
    return this.#sent.size < this.concurrency && this.#next() !== undefined;
  }

  sendNext(): boolean {
    const line = this.#next();
    const [waiter] = line?.waiting ?? [];
    if (line === undefined || waiter === undefined) return false;
    line.waiting.delete(waiter);
    if (line === this.#hanging) this.#takeTurns(waiter.job);
    this.#listsInRow = line === this.#lists ? this.#listsInRow + 1 : 0;
    waiter.grant(this.#permit(line, waiter.job));
    return true;
  }

  /** The line whose call is next; `undefined` if none waits that may go. */
  #next(): WaitingLine | undefined {
    let first = this.#ready.first();
    for (; first !== undefined && first.line.queued !== first; first = this.#ready.first()) {
      this.#ready.removeFirst();
    }
    const mayList = this.#listsInRow < mostListsInRow || first === undefined;
    return mayList && this.#lists.waiting.size > 0 ? this.#lists : first?.line;
  }

  #permit(line: WaitingLine, job: Job | undefined): Permit {
    const key = this.#key;
    const sent = { sentMs: this.#clock.monotonicMs() };
    let isOver = false;
    let isRefused = false;
    key.take();
    this.#sent.add(sent);
    line.inFlight += 1;
    this.#update(line);
    const release: Permit['release'] = (how) => {
      if (isOver) return;
      isOver = true;
      const nowMs = this.#clock.monotonicMs();
      const tookMs = nowMs - sent.sentMs;
      this.#sent.delete(sent);
      line.inFlight -= 1;
      if (how !== 'unsent') {
        forgetUntil(this.#endsMs, nowMs - minuteMs);
        this.#endsMs.push(nowMs);
        this.#keys.patience?.ended(key.apiKey, isRefused);
        if (line === this.#lists && !isRefused) [this.listEndedMs, this.#listRefusals] = [nowMs, 0];
      }
      if (how === 'answered') this.#answered(line, job, tookMs);
      if (how === 'failed' && tookMs >= hangsAfterMs) this.#hangs(job);
      this.#update(line);
      key.ended(how === 'unsent' ? undefined : tookMs);
      // It may be another one by now.
      this.#key.pumpSoon();
    };
    const throttled: Permit['throttled'] = (one) => {
      isRefused = true;
      if (line === this.#lists) {
        // One that only came too late is next after the pause. If it is refused again, polls go first seven times.
        if (this.#listRefusals % 8 !== 0) this.#listsInRow = mostListsInRow;
        this.#listRefusals += 1;
      }
      key.throttled(one);
    };
    return { apiKey: key.apiKey, isOver: () => isOver, throttled, release };
  }

  #answered(line: WaitingLine, job: Job | undefined, tookMs: number): void {
    this.#answersMs = [...this.#answersMs.slice(1 - answers.counted), tookMs];
    this.#usualMs = usualOf(this.#answersMs);
    // However long it took: what is always slow is not what hangs.
    line.width += 1;
    if (job !== undefined) this.#hung.delete(job.key);
  }

  /** What a list hangs at says nothing about polls. */
  #hangs(job: Job | undefined): void {
    if (job === undefined) return;
    this.#hung.delete(job.key);
    this.#hung.add(job.key);
    const [oldest] = this.#hung;
    if (this.#hung.size > mostHanging && oldest !== undefined) this.#hung.delete(oldest);
    this.#hanging.width = 1;
    const own = this.#lines.get(job);
    for (const waiter of own?.waiting ?? []) this.#hanging.waiting.add(waiter);
    own?.waiting.clear();
    if (own !== undefined) this.#update(own);
    this.#update(this.#hanging);
  }

  /** Of what hangs each job has one call in turn, however many it wants to make. */
  #takeTurns(job: Job | undefined): void {
    const { waiting } = this.#hanging;
    for (const waiter of [...waiting].filter((one) => one.job === job)) {
      waiting.delete(waiter);
      waiting.add(waiter);
    }
  }

  #lineOf(job: Job | undefined): WaitingLine {
    if (job === undefined) return this.#lists;
    if (this.#hung.has(job.key)) return this.#hanging;
    const line = this.#lines.get(job) ?? this.#newLine(firstWidth);
    this.#lines.set(job, line);
    return line;
  }

  #newLine(width: number): WaitingLine {
    this.#linesSoFar += 1;
    const none = { waiting: new Set<Waiter>(), inFlight: 0, queued: undefined };
    return { ...none, order: this.#linesSoFar, width };
  }

  #changed(line: WaitingLine): void {
    this.#update(line);
    this.#key.pump();
  }

  /** Puts the line where it now belongs, or takes it out. To be called after every change of it. */
  #update(line: WaitingLine): void {
    const [first] = line.waiting;
    const isReady = first?.job !== undefined && line.inFlight < line.width;
    const priority = isReady ? this.#deadlineMsOf(first.job) : Number.NaN;
    if (line.queued?.priority === priority) return;
    line.queued = isReady ? { line, priority, order: line.order } : undefined;
    if (line.queued !== undefined) this.#ready.add(line.queued);
  }

  /** A large job has more time, up to its whole period: small ones overtake it until it must end. */
  #deadlineMsOf({ size, dueMs, periodMs }: Job): number {
    const neededMs = (slowdown * minuteMs * size) / this.limitPerMinute();
    return dueMs + shareOfPeriod * periodMs + Math.min(periodMs, neededMs);
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
