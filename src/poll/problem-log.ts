import { type Clock, nowOf, sleep, wallTimeOf } from '../model/clock.ts';
import type { Problem } from '../model/problem.ts';
import { type ProblemKind, problemKinds } from '../model/problem-kinds.ts';
import type { Logger } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';

/** More subjects that begin or end together are one line with their number. */
const mostLines = 3;
const mostExamples = 5;
/** While a kind of problem lasts, it is told of so often: who reads the last hours of a log must see it. */
const remindMs = 10 * minuteMs;
const watchMs = 10_000;
/** After this long a list was asked for with the key that a poll was refused with. */
const refusedMs = 30_000;

/** Writes what begins and what ends among the problems of an account, or of the process, and what lasts. */
export class ProblemLog {
  readonly #of: Readonly<Record<string, string>>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Those that have a line, by kind and subject: only these have one at their end. */
  #told: ReadonlyMap<string, Problem> = new Map();
  /** Since when there have been problems of a kind, on the monotonic clock. */
  #sinceMs: ReadonlyMap<ProblemKind, number> = new Map();
  /** When the log last spoke of a kind that lasts. */
  #spokenMs = new Map<ProblemKind, number>();

  /** @param of the fields of all lines */
  constructor(
    of: Readonly<Record<string, string>>,
    { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  ) {
    this.#of = of;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Since when there have been problems of a kind, as far as they were told: wall times. */
  sinceMs(): ReadonlyMap<string, number> {
    const toWall = wallTimeOf(nowOf(this.#clock));
    return new Map(Array.from(this.#sinceMs, ([kind, atMs]) => [kind, toWall(atMs)]));
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
    const { wallMs, monotonicMs } = nowOf(this.#clock);
    const before = this.#told;
    const told = new Map<string, Problem>();
    const begun: Problem[] = [];
    for (const problem of problems) {
      const key = keyOf(problem);
      const known = before.get(key);
      if (!isLast && isExplained(problem, wallMs)) {
        if (known !== undefined) told.set(key, known);
        continue;
      }
      told.set(key, problem);
      // Another reason is another failure.
      if (known === undefined || known.reason !== problem.reason) begun.push(problem);
    }
    this.#told = told;
    const ended = [...before].flatMap(([key, problem]) => (told.has(key) ? [] : problem));
    for (const some of byKind(ended).values()) this.#write(some, 1);
    for (const some of byKind(begun).values()) this.#write(some, 0);
    this.#remind(problems, monotonicMs);
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
      const facts = which === 0 ? factsOf(problem) : {};
      this.#logger[level]({ ...this.#of, ...problem.subject, ...facts }, problem.log[which]);
    }
  }

  /** Notes since when there are which kinds, and tells of those that it last spoke of long ago. */
  #remind(problems: readonly Problem[], nowMs: number): void {
    const kinds = new Set(problems.map(({ kind }) => kind));
    const timesOf = (known: ReadonlyMap<ProblemKind, number>): Map<ProblemKind, number> =>
      new Map(Array.from(kinds, (kind) => [kind, known.get(kind) ?? nowMs]));
    this.#sinceMs = timesOf(this.#sinceMs);
    this.#spokenMs = timesOf(this.#spokenMs);
    const due = [...this.#spokenMs].filter(([, spokenMs]) => nowMs - spokenMs >= remindMs);
    for (const [kind] of due) {
      this.#spokenMs.set(kind, nowMs);
      const some = [...this.#told.values()].filter((problem) => problem.kind === kind);
      if (some.length === 0) continue;
      this.#logger[levelOf(some)](this.#summaryOf(some), `still: ${some[0]?.log[0]}`);
    }
  }

  #summaryOf(some: readonly Problem[]): Readonly<Record<string, unknown>> {
    const oldest = some.toSorted((left, right) => begunMs(left) - begunMs(right))[0];
    const since =
      oldest?.sinceMs === undefined ? {} : { since: new Date(oldest.sinceMs).toISOString() };
    const examples = examplesOf(some);
    const counted = examples.length === 0 ? {} : { count: some.length, examples };
    return { ...this.#of, ...counted, ...since, ...(oldest && factsOf(oldest)) };
  }
}

function begunMs({ sinceMs = Number.POSITIVE_INFINITY }: Problem): number {
  return sinceMs;
}

function keyOf({ kind, subject }: Problem): string {
  // Ten thousand of them take milliseconds: JSON would take ten times as long.
  return subject === undefined ? kind : `${kind}\n${Object.values(subject).join('\n')}`;
}

function byKind(problems: readonly Problem[]): ReadonlyMap<ProblemKind, readonly Problem[]> {
  const groups = new Map<ProblemKind, Problem[]>();
  for (const problem of problems) {
    const group = groups.get(problem.kind) ?? [];
    groups.set(problem.kind, group);
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
 * What another problem explains has that line. A poll that waits has begun no failure: it may yet succeed. One whose
 * key is refused brings the next discovery forward, which says it for all.
 */
function isExplained(
  { isEffect, subject, reason, kind, sinceMs = 0 }: Problem,
  wallMs: number,
): boolean {
  if (isEffect === true) return true;
  if (subject === undefined || isDropped(kind)) return false;
  return reason === 'throttled' || (reason === 'auth' && wallMs - sinceMs < refusedMs);
}

function isDropped(kind: ProblemKind): boolean {
  return kind === 'application_dropped' || kind === 'query_dropped';
}

/** The answer of New Relic says itself what to do. */
function factsOf({ kind, reason, text, remedy }: Problem): Readonly<Record<string, unknown>> {
  if (isDropped(kind)) return { reason, remedy };
  return reason === undefined
    ? { problem: text, remedy }
    : { error: { reason, message: text }, remedy };
}

/** What people call some of them: the name comes last. */
function examplesOf(some: readonly Problem[]): readonly string[] {
  return some.slice(0, mostExamples).flatMap(({ subject }) => {
    if (subject === undefined) return [];
    const { app_name: application, query, selector, name = selector } = subject;
    return application ?? query ?? name ?? '';
  });
}
