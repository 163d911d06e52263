import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { minuteMs } from '../../model/time.ts';
import { type Subject, subjects } from './column-sets.ts';
import { type Division, type DivisionsOf, type PlannedQuery, undivided } from './query-plan.ts';

/**
 * How a query of a poll has ended. All queries that only differ in what they read have the same list of ids:
 * together they are one piece.
 */
export interface EndedQuery
  extends Pick<PlannedQuery, 'subject' | 'applicationIds' | 'parts' | 'mayHaveParts'> {
  /** `undefined` if it was answered. */
  readonly error: ApiError | undefined;
}

/** So many are asked alone at once. More become about as many pieces as each of these has applications. */
const fewTogether = 16;
/** Queries for the hosts of an application: so many times as before, and at most. */
const parts = { factor: 4, most: 64 };
/** While nothing is answered, so many applications show whether it is because of some of them. */
const trials = 3;
/** So long after its first answer something is tried with others again: if it has failed alone, or when it was tried. */
const waitMs = { alone: 3 * minuteMs, tried: 7 * minuteMs };

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

function hasManyHosts({ mayHaveParts, error }: EndedQuery): boolean {
  return mayHaveParts && (error?.reason === 'too_large' || error?.reason === 'timeout');
}

/** In which size something is asked since a query about it has failed. */
interface Known extends Pick<Division, 'together' | 'parts'> {
  /** Monotonic time from which it is tried together with others; infinite until it is answered. */
  readonly untilMs: number;
  /** How long after its first answer that is. */
  readonly waitMs: number;
}

/** What is known of one subject. */
class Sizes {
  /** By application; the one that was asked least recently comes first. */
  readonly known = new Map<string, Known>();
  /** Of applications whose last poll brought no answer at all: how. */
  readonly silent = new Map<string, EndedQuery>();
  polls = 0;

  divided(nowMs: number): readonly (readonly [id: string, Known])[] {
    return [...this.known].filter(([, { untilMs }]) => untilMs > nowMs);
  }
}

/**
 * Remembers what cannot be asked together with others: each next poll asks smaller pieces, until those that
 * spoil the queries stand alone. Where nothing is answered, trials must first show that applications matter:
 * New Relic would get more to do when it can bear it least.
 */
export class QuerySizes {
  readonly #clock: Clock;
  /** Queries about hosts that fail divide none about applications, and say nothing about them. */
  readonly #bySubject = {
    applications: new Sizes(),
    hosts: new Sizes(),
  } as const satisfies Readonly<Record<Subject, Sizes>>;
  /** How often failures have shown that the next poll must ask in another way. */
  changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The divisions of one poll. All that is divided shares what can be spared evenly; what finds no room waits.
   *
   * @param spare queries that all polls of an interval may send for what is divided
   */
  within(spare: number): DivisionsOf {
    return (subject, ids, queries) => {
      const sizes = this.#bySubject[subject];
      const silent = ids.filter((id) => sizes.silent.has(id));
      if (silent.length > 0) return trialsOf(silent, sizes);
      const nowMs = this.#clock.monotonicMs();
      const all = subjects.flatMap((one) => this.#bySubject[one].divided(nowMs));
      const own = new Set(ids);
      const divided = sizes.divided(nowMs).filter(([id]) => own.has(id));
      const wanted = queriesFor(divided);
      const share = wanted * Math.min(1, spare / (queries * queriesFor(all)));
      const isTrying = ids.filter((id) => sizes.known.has(id)).length > divided.length;
      // A part of a query is a query now and then.
      const most = Math.floor(share + spread(sizes.polls)) - Number(isTrying);
      let left = share < wanted ? most : wanted;
      const divisions = new Map<string, Division>();
      for (const [id, known] of divided) {
        divisions.set(id, { ...known, when: left > rounding ? 'again' : 'later' });
        left -= queriesFor([[id, known]]);
      }
      return (id) => divisions.get(id) ?? (sizes.known.has(id) ? tried : undivided);
    };
  }

  /** All queries of one poll have ended. */
  ended(queries: readonly EndedQuery[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const subject of subjects) {
      const pieces = piecesOf(queries.filter((query) => query.subject === subject));
      if (learn(this.#bySubject[subject], pieces, nowMs)) this.changes += 1;
    }
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const { known, silent } of Object.values(this.#bySubject)) {
      for (const some of [known, silent]) {
        for (const id of some.keys()) if (!applicationIds.has(id)) some.delete(id);
      }
    }
  }
}

const tried: Division = { ...undivided, when: 'again' };
/** Of sums of shares. */
const rounding = 1e-6;

function queriesFor(divided: readonly (readonly [id: string, Known])[]): number {
  return divided.reduce((sum, [, one]) => sum + one.parts / one.together, 0);
}

/** At least 0 and below 1: evenly spread, also that of each n-th index. */
function spread(index: number): number {
  return (index * Math.SQRT2) % 1;
}

/** A few applications alone, others in each poll; or one in parts, if its hosts may be too many. */
function trialsOf(ids: readonly string[], { silent, polls }: Sizes): (id: string) => Division {
  const isOfHosts = [...silent.values()].some(hasManyHosts) && spread(polls / 2) < 0.5;
  const places = Array.from({ length: isOfHosts ? 1 : trials }, (_, at) => {
    return Math.floor(spread(polls * trials + at) * ids.length);
  });
  const alone = new Set(places.map((place) => ids[place]));
  const trial: Division = { together: 1, parts: isOfHosts ? parts.factor : 1, when: 'again' };
  return (id) => (alone.has(id) ? trial : undivided);
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

function idsOf(pieces: readonly EndedQuery[]): ReadonlySet<string> {
  return new Set(pieces.flatMap(({ applicationIds }) => applicationIds));
}

/** What one poll has shown. */
interface Shown {
  readonly failed: readonly EndedQuery[];
  readonly answered: readonly EndedQuery[];
  /** Whether the poll before brought no answer for one of them; then this one has made trials. */
  readonly wasSilent: boolean;
  readonly isSilent: boolean;
  readonly nowMs: number;
}

/** Learns from one poll. Returns whether failures have shown that the next one must ask in another way. */
function learn(sizes: Sizes, pieces: readonly EndedQuery[], nowMs: number): boolean {
  const failed = pieces.filter(isDivisible);
  const answered = pieces.filter(isAnswered);
  // Of what was refused or cut off, nobody knows.
  if (failed.length + answered.length === 0) return false;
  const { known, silent } = sizes;
  const ids = [...idsOf(pieces)];
  const wasSilent = ids.some((id) => silent.has(id));
  const isSilent = answered.length === 0 && !ids.every((id) => isTried(known.get(id), nowMs));
  sizes.polls += 1;
  for (const id of ids) silent.delete(id);
  if (isSilent) {
    for (const piece of failed) for (const id of piece.applicationIds) silent.set(id, piece);
  }
  const shown = { failed, answered, wasSilent, isSilent, nowMs };
  const isDivided = noteFailures(known, shown);
  noteAnswers(known, idsOf(pieces.filter((piece) => !isAnswered(piece))), shown);
  return isDivided || (isSilent && (!wasSilent || failed.some(hasManyHosts)));
}

function noteFailures(known: Map<string, Known>, shown: Shown): boolean {
  const before = new Map(known);
  let isDivided = false;
  for (const piece of shown.failed) {
    for (const id of piece.applicationIds) {
      const was = before.get(id);
      const after = afterFailure(piece, was, shown);
      if (after === was || after === undefined) continue;
      isDivided ||= !areAlike(after, was) || isTried(was, shown.nowMs);
      known.delete(id);
      known.set(id, after);
    }
  }
  return isDivided;
}

function noteAnswers(known: Map<string, Known>, unwell: ReadonlySet<string>, shown: Shown): void {
  for (const piece of shown.answered) {
    for (const id of piece.applicationIds.filter((one) => !unwell.has(one))) {
      const after = afterAnswer(piece, known.get(id), shown);
      known.delete(id);
      if (after !== undefined) known.set(id, after);
    }
  }
}

/** Whether it was asked with others, to find out whether it can be. */
function isTried(known: Known | undefined, nowMs: number): boolean {
  return known !== undefined && known.untilMs <= nowMs;
}

function isOfOne({ applicationIds }: EndedQuery): boolean {
  return applicationIds.length === 1;
}

function areAlike(left: Known, right: Known | undefined): boolean {
  return left.together === right?.together && left.parts === right.parts;
}

function afterFailure(
  piece: EndedQuery,
  was: Known | undefined,
  { failed, answered, wasSilent, isSilent, nowMs }: Shown,
): Known | undefined {
  const { length } = piece.applicationIds;
  const before = was ?? { together: isSilent ? 0 : length, parts: 1, waitMs: 0 };
  if (was !== undefined && isTried(was, nowMs)) {
    return { ...was, untilMs: Infinity, waitMs: waitMs.tried };
  }
  // With others, or with all others, it says nothing of this one.
  if (length > before.together) return was;
  // Where one of a few trials has failed, many would.
  const isFew = length <= fewTogether || (wasSilent && failed.some(isOfOne));
  const together = isFew ? 1 : Math.ceil(Math.sqrt(length));
  const after = { ...before, together, untilMs: Infinity };
  if (length > 1) return after;
  const waits = Math.max(before.waitMs, waitMs.alone);
  return { ...after, waitMs: waits, parts: partsAfter(piece, before, answered) };
}

/** Fewer hosts in a query help against size, unless none of the parts was answered. */
function partsAfter(
  piece: EndedQuery,
  before: Pick<Known, 'parts' | 'waitMs'>,
  answered: readonly EndedQuery[],
): number {
  if (!hasManyHosts(piece)) return before.parts;
  const isFirst = before.parts === 1 && before.waitMs === 0;
  const isHelped = answered.some(({ applicationIds: [id] }) => id === piece.applicationIds[0]);
  return isFirst || isHelped ? Math.min(parts.most, parts.factor * piece.parts) : 1;
}

/** `undefined` if it needs no size of its own any longer. */
function afterAnswer(
  piece: EndedQuery,
  was: Known | undefined,
  { wasSilent, nowMs }: Shown,
): Known | undefined {
  const { applicationIds, parts: inParts } = piece;
  // A trial has shown that its hosts are too many together.
  if (was === undefined && wasSilent && inParts > 1) {
    return { together: 1, parts: inParts, untilMs: nowMs + waitMs.alone, waitMs: waitMs.alone };
  }
  if (was === undefined || isTried(was, nowMs) || applicationIds.length > was.together) {
    return undefined;
  }
  // What has only failed with others may be well with those that are well.
  return { ...was, untilMs: Math.min(was.untilMs, nowMs + was.waitMs) };
}
