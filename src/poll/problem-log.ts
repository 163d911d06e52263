import type { FailureReason } from '../model/api-error.ts';
import { type Clock, nowOf, sleep, wallTimeOf } from '../model/clock.ts';
import { type Problem, problemKeyOf } from '../model/problem.ts';
import { type ProblemKind, problemKinds } from '../model/problem-kinds.ts';
import type { Logger } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';

/** More subjects that begin or end together are one line with their number. */
const mostLines = 3;
const mostExamples = 5;
/** While a kind of problem lasts, it is told of so often: who reads the last hours of a log must see it. */
const remindMs = 10 * minuteMs;
const watchMs = 10_000;
/** After this long a list was asked for with the key that a poll was refused with, and a poll waits in vain. */
const patienceMs: Readonly<Partial<Record<FailureReason, number>>> = {
  auth: 30_000,
  throttled: 2 * minuteMs,
};

/** Writes what begins and what ends among the problems of an account, or of the process, and what lasts. */
export class ProblemLog {
  readonly #of: Readonly<Record<string, string>>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #isOver: (problem: Problem) => boolean;
  /** Those that have a line, by their keys: only these have one at their end. */
  #told: ReadonlyMap<string, Problem> = new Map();
  /** Since when it has been known of them, by their keys; monotonic. */
  #sinceMs: ReadonlyMap<string, number> = new Map();
  /** When the log last spoke of what lasts, by its message. */
  #spokenMs: ReadonlyMap<string, number> = new Map();

  /**
   * @param of the fields of all lines
   * @param isOver whether what is no more has ended well, and has a line. Default: always
   */
  constructor(
    of: Readonly<Record<string, string>>,
    { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
    isOver: (problem: Problem) => boolean = () => true,
  ) {
    this.#isOver = isOver;
    this.#of = of;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Since when it has been known of problems, by their keys: wall times. */
  sinceMs(): ReadonlyMap<string, number> {
    const toWall = wallTimeOf(nowOf(this.#clock));
    return new Map(Array.from(this.#sinceMs, ([key, atMs]) => [key, toWall(atMs)]));
  }

  /** Looks at what is wrong again and again, until the signal is aborted. */
  async watch(problems: () => readonly Problem[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.tell(problems());
      await sleep(this.#clock, watchMs, signal).catch(() => undefined);
    }
  }

  /**
   * @param problems all that there are now
   * @param isLast whether nobody looks again, so that all of it is told
   */
  tell(problems: readonly Problem[], isLast = false): void {
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = new Map<string, number>();
    const before = this.#told;
    const told = new Map<string, Problem>();
    const begun: Problem[] = [];
    for (const problem of problems) {
      const key = problemKeyOf(problem);
      const known = before.get(key);
      const seenMs = this.#sinceMs.get(key) ?? nowMs;
      sinceMs.set(key, seenMs);
      if (!isLast && isExplained(problem, nowMs - seenMs)) {
        if (known !== undefined) told.set(key, known);
        continue;
      }
      told.set(key, problem);
      // Another reason is another failure.
      if (known === undefined || known.reason !== problem.reason) begun.push(problem);
    }
    this.#told = told;
    this.#sinceMs = sinceMs;
    const ended = [...before]
      .filter(([key, problem]) => !told.has(key) && this.#isOver(problem))
      .map(([, problem]) => problem);
    for (const some of byMessage(ended).values()) this.#write(some, 1);
    for (const some of byMessage(begun).values()) this.#write(some, 0);
    this.#remind(nowMs);
  }

  /** A line for each of a few, one for many. */
  #write(some: readonly Problem[], which: 0 | 1): void {
    const [first] = some;
    if (first === undefined || problemKinds[first.kind].isTold === true) return;
    const level = which === 0 ? levelOf(some) : 'info';
    if (some.length > mostLines) {
      const ended = { ...this.#of, count: some.length, examples: examplesOf(some) };
      this.#logger[level](which === 0 ? this.#summaryOf(some) : ended, first.log[which]);
      return;
    }
    for (const problem of some) {
      const facts = which === 0 ? loggedFacts(problem) : {};
      this.#logger[level]({ ...this.#of, ...problem.subject, ...facts }, problem.log[which]);
    }
  }

  /** Tells of what the log last spoke of long ago. */
  #remind(nowMs: number): void {
    const spokenMs = new Map<string, number>();
    for (const { log } of this.#told.values()) {
      spokenMs.set(log[0], this.#spokenMs.get(log[0]) ?? nowMs);
    }
    this.#spokenMs = spokenMs;
    const due = [...spokenMs].filter(([, atMs]) => nowMs - atMs >= remindMs);
    for (const [message] of due) {
      spokenMs.set(message, nowMs);
      const some = [...this.#told.values()].filter(({ log }) => log[0] === message);
      this.#logger[levelOf(some)](this.#summaryOf(some), `still: ${message}`);
    }
  }

  #summaryOf(some: readonly Problem[]): Readonly<Record<string, unknown>> {
    const oldest = some.toSorted((left, right) => begunMs(left) - begunMs(right))[0];
    const since =
      oldest?.sinceMs === undefined ? {} : { since: new Date(oldest.sinceMs).toISOString() };
    const examples = examplesOf(some);
    const counted = examples.length === 0 ? {} : { count: some.length, examples };
    return { ...this.#of, ...counted, ...since, ...(oldest && loggedFacts(oldest)) };
  }
}

function begunMs({ sinceMs = Number.POSITIVE_INFINITY }: Problem): number {
  return sinceMs;
}

function byMessage(problems: readonly Problem[]): ReadonlyMap<string, readonly Problem[]> {
  const groups = new Map<string, Problem[]>();
  for (const problem of problems) {
    const group = groups.get(problem.log[0]) ?? [];
    groups.set(problem.log[0], group);
    group.push(problem);
  }
  return groups;
}

/** What ends all of an account's values is an error. */
function levelOf([problem]: readonly Problem[]): 'warn' | 'error' {
  const isOfAll = problem?.subject === undefined && problem?.reason !== undefined;
  return isOfAll ? 'error' : 'warn';
}

/**
 * What another problem explains has that line. A poll that waits may yet succeed. One whose key is refused brings the
 * next discovery forward, which says it for all.
 */
function isExplained({ isEffect, subject, reason, kind }: Problem, lastedMs: number): boolean {
  if (isEffect === true) return true;
  if (subject === undefined || reason === undefined || isDropped(kind)) return false;
  return lastedMs < (patienceMs[reason] ?? 0);
}

function isDropped(kind: ProblemKind): boolean {
  return kind === 'application_dropped' || kind === 'query_dropped';
}

/** The answer of New Relic says itself what to do. */
function loggedFacts({ kind, reason, text, remedy }: Problem): Readonly<Record<string, unknown>> {
  if (isDropped(kind)) return { reason, remedy };
  return reason === undefined
    ? { problem: text, remedy }
    : { error: { reason, message: text }, remedy };
}

/** What people call some of them. */
function examplesOf(some: readonly Problem[]): readonly string[] {
  return some.slice(0, mostExamples).flatMap(({ subject }) => {
    if (subject === undefined) return [];
    return subject['app_name'] ?? subject['name'] ?? Object.values(subject)[0] ?? '';
  });
}
