import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { type Subject, subjects } from './column-sets.ts';

/**
 * What one query asks for at most. The rows are half of New Relic's maximum of 5000: a rollout may replace
 * every host at once, and the event loop is busy with such an answer for a few milliseconds only.
 */
export const fullSize = { applications: 200, rows: 2500 };

/** How the queries about an application, or those about its hosts, are divided because one of them has failed. */
export interface Division {
  /** Applications in one query at most. */
  readonly together: number;
  /** Queries for the hosts of the application at least, if it is asked for alone. */
  readonly parts: number;
}

export const undivided: Division = { together: fullSize.applications, parts: 1 };

function isWhole({ together, parts }: Division): boolean {
  return together === undivided.together && parts === undivided.parts;
}

/** How a query of a batch has ended. */
export interface EndedQuery {
  readonly subject: Subject;
  /** The same list for all queries that only differ in what they read: together they are one piece. */
  readonly applicationIds: readonly string[];
  /** In how many queries the hosts of its only application were asked for. */
  readonly parts: number;
  /** `undefined` if it was answered. */
  readonly error: ApiError | undefined;
}

/** Into four: one bad application of 200 stands alone after four polls. */
const pieces = 4;
/** More than the most hosts that an application may have, in queries of full size. */
const mostParts = 64;
/** More parts are tried only where some of these have helped: one bad application must not cost 64 calls. */
const mostBlindParts = 16;
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

function isOfItsParts({ reason, status }: ApiError): boolean {
  return mayBeOfItsParts.has(reason) && (reason !== 'server' || status === undefined);
}

function isAnswered({ error }: EndedQuery): boolean {
  return error === undefined;
}

function isDivisible({ error }: EndedQuery): boolean {
  return error !== undefined && isOfItsParts(error);
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

/** A division of one query, until its pieces have shown whether it helps. */
interface Trial {
  /** How many of what is answered then come together: there is room for the one that stood alone. */
  readonly wellTogether: number;
}

interface Known extends Division {
  /** Monotonic time of its last failure or change. */
  readonly sinceMs: number;
  readonly trial?: { readonly of: Trial; readonly before: Division } | undefined;
  /** No division helped when it was last tried. */
  readonly waitsUntilMs?: number | undefined;
  /** Into how many parts it was divided then, in vain. */
  readonly triedParts?: number | undefined;
}

/**
 * Remembers which applications fail together, so that the next polls find the one that spoils the others. What
 * fails in all its pieces does not fail because of one of them.
 */
export class QuerySizes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Queries about hosts that fail divide none about applications, and say nothing about them. */
  readonly #bySubject = {
    applications: new Map<string, Known>(),
    hosts: new Map<string, Known>(),
  } as const satisfies Readonly<Record<Subject, Map<string, Known>>>;
  /** How often divisions have changed. */
  changes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  divisionOf(subject: Subject, applicationId: string): Division {
    return this.#bySubject[subject].get(applicationId) ?? undivided;
  }

  /** All queries of one batch have ended, in this order. */
  ended(queries: readonly EndedQuery[]): void {
    const nowMs = this.#clock.monotonicMs();
    const isAnyAnswered = queries.some(isAnswered);
    const changes = subjects.flatMap((subject) => {
      const ended = piecesOf(queries.filter((query) => query.subject === subject));
      const known = this.#bySubject[subject];
      return [
        judge(known, ended, nowMs),
        divide(known, ended, { nowMs, isAnyAnswered }),
        recover(known, ended, nowMs),
      ];
    });
    if (changes.includes(true)) this.changes += 1;
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const known of Object.values(this.#bySubject)) {
      for (const id of known.keys()) if (!applicationIds.has(id)) known.delete(id);
    }
  }
}

/** Whether a piece of each trial was answered; `undefined` if none was, and some were cut off. */
function shownBy(
  known: ReadonlyMap<string, Known>,
  ended: readonly EndedQuery[],
): ReadonlyMap<Trial, boolean | undefined> {
  const shown = new Map<Trial, boolean | undefined>();
  const see = (some: readonly EndedQuery[], isHelp: boolean | undefined): void => {
    for (const id of some.flatMap(({ applicationIds }) => applicationIds)) {
      const trial = known.get(id)?.trial;
      if (trial !== undefined) shown.set(trial.of, isHelp);
    }
  };
  // What comes later counts more.
  see(ended.filter(isDivisible), false);
  see(
    ended.filter((piece) => !isAnswered(piece) && !isDivisible(piece)),
    undefined,
  );
  see(ended.filter(isAnswered), true);
  // Of a trial that was not asked as a whole the rest may show that it helps.
  const asked = new Set(ended.flatMap(({ applicationIds }) => applicationIds));
  for (const [id, { trial }] of known) {
    if (trial !== undefined && shown.get(trial.of) === false && !asked.has(id)) {
      shown.set(trial.of, undefined);
    }
  }
  return shown;
}

/** Keeps the divisions that have helped, and takes back the others. Returns whether that changes one. */
function judge(known: Map<string, Known>, ended: readonly EndedQuery[], nowMs: number): boolean {
  const shown = shownBy(known, ended);
  if (shown.size === 0) return false;
  const well = wellOf(ended);
  let hasChanged = false;
  for (const [id, { trial, ...division }] of known) {
    const hasHelped = trial && shown.get(trial.of);
    if (trial === undefined || hasHelped === undefined) continue;
    if (hasHelped) {
      const together = Math.max(division.together, well.has(id) ? trial.of.wellTogether : 1);
      hasChanged ||= together !== division.together;
      known.set(id, { ...division, together });
    } else {
      hasChanged = true;
      const triedParts = division.parts > trial.before.parts ? division.parts : undefined;
      const waitsUntilMs = nowMs + recoveryMs;
      known.set(id, { ...trial.before, sinceMs: nowMs, waitsUntilMs, triedParts });
    }
  }
  return hasChanged;
}

/** Divides the next queries about what has failed. Returns whether that changes a division. */
function divide(known: Map<string, Known>, ended: readonly EndedQuery[], poll: EndedPoll): boolean {
  const { nowMs } = poll;
  for (const { applicationIds } of ended.filter(isDivisible)) {
    for (const id of applicationIds) {
      const before = known.get(id);
      if (before !== undefined) known.set(id, { ...before, sinceMs: nowMs });
    }
  }
  let hasChanged = false;
  for (const { applicationIds, smaller } of divisionsOf(known, ended, poll)) {
    const count = applicationIds.length;
    const lone = count > 1 ? applicationIds.at(-1) : undefined;
    const of: Trial = { wellTogether: Math.min(count - 1, smaller.together + 1) };
    for (const id of applicationIds) {
      const { together, parts } = known.get(id) ?? undivided;
      const after = {
        together: Math.min(together, id === lone ? 1 : smaller.together),
        parts: Math.max(parts, smaller.parts),
      };
      // Several queries may have failed for the same application.
      if (after.together === together && after.parts === parts) continue;
      hasChanged = true;
      known.set(id, { ...after, sinceMs: nowMs, trial: { of, before: { together, parts } } });
    }
  }
  return hasChanged;
}

interface EndedPoll {
  readonly nowMs: number;
  /** Whether any query of the poll was, about whatever. */
  readonly isAnyAnswered: boolean;
}

interface SmallerPieces {
  readonly applicationIds: readonly string[];
  readonly smaller: Division;
}

/** What has failed and may be answered in smaller pieces. */
function divisionsOf(
  known: ReadonlyMap<string, Known>,
  ended: readonly EndedQuery[],
  { nowMs, isAnyAnswered }: EndedPoll,
): readonly SmallerPieces[] {
  const firstAnswer = ended.findIndex(isAnswered);
  const isSilent = firstAnswer === -1;
  const isDivided = (id: string): boolean => !isWhole(known.get(id) ?? undivided);
  const isTried = (id: string): boolean => known.get(id)?.trial !== undefined;
  const waits = (id: string): boolean => (known.get(id)?.waitsUntilMs ?? nowMs) > nowMs;
  const divisions = ended.filter(isDivisible).flatMap((piece): readonly SmallerPieces[] => {
    const { applicationIds, error } = piece;
    const isEarly = error?.reason === 'timeout' && ended.indexOf(piece) < firstAnswer;
    if (applicationIds.every(waits) || (isEarly && applicationIds.some(isDivided))) return [];
    if (isSilent && applicationIds.some(isTried)) return [];
    const smaller = smallerOf(piece, known, { isSilent, isAnyAnswered });
    return smaller === undefined ? [] : [{ applicationIds, smaller }];
  });
  if (!isSilent) return divisions;
  // More and more queries would be a storm when New Relic can bear it least: one shows whether it helps.
  const bySize = divisions.toSorted((a, b) => b.applicationIds.length - a.applicationIds.length);
  return bySize.slice(0, 1);
}

/** `undefined` if it cannot be divided, or that would not help. */
function smallerOf(
  piece: EndedQuery,
  known: ReadonlyMap<string, Known>,
  { isSilent, isAnyAnswered }: { readonly isSilent: boolean } & Pick<EndedPoll, 'isAnyAnswered'>,
): Division | undefined {
  const { subject, applicationIds, error } = piece;
  const count = applicationIds.length;
  if (count > 1) {
    // While nothing is answered, the one that stands alone is one of the four.
    const together = Math.ceil(isSilent ? (count - 1) / (pieces - 1) : count / pieces);
    return { together, parts: 1 };
  }
  // Fewer hosts help only against size.
  const isTooMuch = error?.reason === 'too_large' || error?.reason === 'timeout';
  if (subject === 'applications' || !isTooMuch) return undefined;
  const [before = { ...undivided, triedParts: 1 }] = applicationIds.map((id) => known.get(id));
  const parts = morePartsOf(piece, before, isAnyAnswered);
  return parts > before.parts ? { together: undivided.together, parts } : undefined;
}

/** More parts of what hangs altogether would only hang as well. */
function morePartsOf(
  { parts }: EndedQuery,
  { triedParts = 1 }: Pick<Known, 'triedParts'>,
  isAnyAnswered: boolean,
): number {
  const inVain = isAnyAnswered && triedParts < mostBlindParts ? triedParts : 1;
  return Math.min(mostParts, pieces * Math.max(parts, inVain));
}

/** Takes back, in steps, the divisions of what has not failed for long. Returns whether that changes one. */
function recover(known: Map<string, Known>, ended: readonly EndedQuery[], nowMs: number): boolean {
  let hasChanged = false;
  for (const id of wellOf(ended)) {
    const before = known.get(id);
    if (before === undefined) continue;
    // What is answered again may be divided again.
    if (isWhole(before)) known.delete(id);
    if (isWhole(before) || nowMs - before.sinceMs < recoveryMs) continue;
    hasChanged = true;
    const together = Math.min(undivided.together, pieces * before.together);
    const after = { together, parts: Math.max(1, Math.floor(before.parts / pieces)) };
    if (isWhole(after)) known.delete(id);
    else known.set(id, { ...after, sinceMs: nowMs });
  }
  return hasChanged;
}

/** The applications of which nothing has failed. */
function wellOf(ended: readonly EndedQuery[]): ReadonlySet<string> {
  const unwell = new Set(
    ended.filter((piece) => !isAnswered(piece)).flatMap(({ applicationIds }) => applicationIds),
  );
  const all = ended.flatMap(({ applicationIds }) => applicationIds);
  return new Set(all.filter((id) => !unwell.has(id)));
}
