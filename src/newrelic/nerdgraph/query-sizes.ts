import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { type Subject, subjects } from './column-sets.ts';
import { type Division, type DivisionOf, type PlannedQuery, undivided } from './query-plan.ts';

/**
 * How a query of a batch has ended. All queries that only differ in what they read have the same list of ids:
 * together they are one piece.
 */
export interface EndedQuery extends Pick<PlannedQuery, 'subject' | 'applicationIds' | 'parts'> {
  /** `undefined` if it was answered. */
  readonly error: ApiError | undefined;
}

/** Into four, of which one is a single application: one bad application of 200 stands alone after five polls. */
const pieces = 4;
/** More than the most hosts that an application may have, in queries of full size. */
const mostParts = 64;
/**
 * A division that has helped is taken back in steps, the first of them after this long without a failure. One
 * that has not is not tried again for as long.
 */
const recoveryMs = 600_000;

/** Failures that fewer applications or hosts in a query may avoid. */
const mayBeOfItsParts: ReadonlySet<FailureReason> = new Set([
  'too_large',
  'timeout',
  'server',
  'client',
  'schema',
  'not_json',
]);

function isAnswered({ error }: EndedQuery): boolean {
  return error === undefined;
}

function isDivisible({ error }: EndedQuery): boolean {
  if (error === undefined || !mayBeOfItsParts.has(error.reason)) return false;
  // A status of HTTP is that of a gateway.
  return error.reason !== 'server' || error.status === undefined;
}

/** A division of one query, until its pieces have shown whether it helps. */
interface Trial {
  readonly before: Division;
  /** How many of what is answered then come together: there is room for the one that stood alone. */
  readonly wellTogether: number;
}

interface Known extends Division {
  /** Monotonic time of its last failure or change. */
  readonly sinceMs: number;
  readonly trial?: Trial;
  /** No division helped when it was last tried. */
  readonly waitsUntilMs?: number;
}

/**
 * Remembers which applications fail together, so that the next polls find the one that spoils the others. What
 * fails in all its pieces does not fail because of one of them.
 */
export class QuerySizes {
  readonly #clock: Clock;
  /** Queries about hosts that fail divide none about applications, and say nothing about them. */
  readonly #bySubject = {
    applications: new Map<string, Known>(),
    hosts: new Map<string, Known>(),
  } as const satisfies Readonly<Record<Subject, Map<string, Known>>>;
  /** How often divisions have changed. */
  changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly divisionOf: DivisionOf = (subject, applicationId) =>
    this.#bySubject[subject].get(applicationId) ?? undivided;

  /** All queries of one batch have ended. */
  ended(queries: readonly EndedQuery[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const subject of subjects) {
      const known = this.#bySubject[subject];
      const before = new Map(known);
      const ended = piecesOf(queries.filter((query) => query.subject === subject));
      judge(known, ended, nowMs);
      divide(known, ended, nowMs);
      recover(known, ended, nowMs);
      const ids = [...before.keys(), ...known.keys()];
      if (!ids.every((id) => areAlike(before.get(id), known.get(id)))) this.changes += 1;
    }
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const known of Object.values(this.#bySubject)) {
      for (const id of known.keys()) if (!applicationIds.has(id)) known.delete(id);
    }
  }
}

function areAlike(left: Division = undivided, right: Division = undivided): boolean {
  return left.together === right.together && left.parts === right.parts;
}

/** A piece is answered if all of its queries are: one that always fails is not helped by the others. */
function piecesOf(queries: readonly EndedQuery[]): readonly EndedQuery[] {
  const byIds = new Map<readonly string[], EndedQuery>();
  for (const query of queries) {
    const piece = byIds.get(query.applicationIds);
    if (piece === undefined || isAnswered(piece)) byIds.set(query.applicationIds, query);
  }
  return [...byIds.values()];
}

function idsOf(ended: readonly EndedQuery[]): ReadonlySet<string> {
  return new Set(ended.flatMap(({ applicationIds }) => applicationIds));
}

/** The applications of which nothing has failed. */
function wellOf(ended: readonly EndedQuery[]): ReadonlySet<string> {
  const unwell = idsOf(ended.filter((piece) => !isAnswered(piece)));
  return new Set([...idsOf(ended)].filter((id) => !unwell.has(id)));
}

/**
 * Keeps the divisions of which a piece was answered, and takes back those that have failed as a whole. Of the
 * others, some of which were cut off or not asked for, nobody knows.
 */
function judge(known: Map<string, Known>, ended: readonly EndedQuery[], nowMs: number): void {
  const answered = idsOf(ended.filter(isAnswered));
  const failed = idsOf(ended.filter(isDivisible));
  const well = wellOf(ended);
  for (const of of new Set([...known.values()].map(({ trial }) => trial))) {
    if (of === undefined) continue;
    const tried = [...known].filter(([, { trial }]) => trial === of);
    const hasHelped = tried.some(([id]) => answered.has(id));
    const isInVain = tried.every(([id]) => failed.has(id));
    for (const [id, { trial: _, ...division }] of tried) {
      const together = well.has(id) ? of.wellTogether : division.together;
      if (hasHelped) known.set(id, { ...division, together });
      else if (isInVain) {
        known.set(id, { ...of.before, sinceMs: nowMs, waitsUntilMs: nowMs + recoveryMs });
      }
    }
  }
}

/** Divides the next queries about what has failed. */
function divide(known: Map<string, Known>, ended: readonly EndedQuery[], nowMs: number): void {
  const failed = ended.filter(isDivisible);
  keepFor(known, idsOf(failed), nowMs);
  const isSilent = !ended.some(isAnswered);
  const waits = (id: string): boolean => (known.get(id)?.waitsUntilMs ?? nowMs) > nowMs;
  const isTried = (id: string): boolean => known.get(id)?.trial !== undefined;
  for (const piece of failed) {
    const ids = piece.applicationIds;
    const [{ together, parts } = undivided] = ids.map((id) => known.get(id));
    const before: Division = { together, parts };
    const smaller = smallerOf(piece, before);
    const isTooEarly = ids.every(waits) || (isSilent && ids.some(isTried));
    if (isTooEarly || areAlike(before, smaller)) continue;
    const last = ids.length - 1;
    const wellTogether = wellTogetherOf(piece, smaller);
    const trial: Trial = { before, wellTogether };
    for (const [at, id] of ids.entries()) {
      const isAlone = last > 0 && at === last;
      const own = isAlone ? { ...smaller, together: 1 } : smaller;
      known.set(id, { ...own, sinceMs: nowMs, trial });
    }
    // More and more queries would be a storm when New Relic can bear it least: one shows whether it helps.
    if (isSilent) return;
  }
}

/** What was too much may be too much again with one more. */
function wellTogetherOf({ applicationIds, error }: EndedQuery, { together }: Division): number {
  const room = error?.reason === 'too_large' ? 0 : 1;
  return Math.max(together, Math.min(applicationIds.length - 1, together + room));
}

/** What has failed is divided for longer. */
function keepFor(known: Map<string, Known>, ids: ReadonlySet<string>, nowMs: number): void {
  for (const id of ids) {
    const before = known.get(id);
    if (before !== undefined) known.set(id, { ...before, sinceMs: nowMs });
  }
}

/** The same if it cannot be divided, or that would not help. */
function smallerOf(
  { subject, applicationIds, parts, error }: EndedQuery,
  before: Division,
): Division {
  const count = applicationIds.length;
  if (count > 1) return { ...before, together: Math.ceil((count - 1) / (pieces - 1)) };
  // Fewer hosts help only against size.
  const isTooMuch = error?.reason === 'too_large' || error?.reason === 'timeout';
  if (subject === 'applications' || !isTooMuch) return before;
  return { ...before, parts: Math.max(before.parts, Math.min(mostParts, pieces * parts)) };
}

/** Takes back, in steps, the divisions of what has not failed for long. */
function recover(known: Map<string, Known>, ended: readonly EndedQuery[], nowMs: number): void {
  for (const id of wellOf(ended)) {
    const before = known.get(id);
    const isWhole = areAlike(before, undivided);
    if (before === undefined || (!isWhole && nowMs - before.sinceMs < recoveryMs)) continue;
    const together = Math.min(undivided.together, pieces * before.together);
    const after = { together, parts: Math.max(1, Math.floor(before.parts / pieces)) };
    // What is answered again may be divided again.
    if (areAlike(after, undivided)) known.delete(id);
    else known.set(id, { ...after, sinceMs: nowMs });
  }
}
