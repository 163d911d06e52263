import { isDeepStrictEqual } from 'node:util';
import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { minuteMs } from '../../model/time.ts';
import { type ColumnSubject, subjects } from './column-sets.ts';
import { type Division, type DivisionsOf, type PlannedQuery, undivided } from './query-plan.ts';

/**
 * How a query of a poll has ended. All queries that only differ in what they read have the same list of ids:
 * together they are one piece.
 */
export interface EndedQuery extends PlannedQuery {
  /** `undefined` if it was answered. */
  readonly error: ApiError | undefined;
}

/** So many are asked alone at once. More become about as many pieces as each of these has applications. */
const smallPart = 16;
/** An application whose hosts are too many for its queries is asked for in so many times as many. */
const moreParts = 4;
/** While nothing is answered, so many applications at most show whether it is because of some of them. */
const mostTrials = 3;
/** The part of what can be spared that one of them takes: those of hosts, and the next poll, come beside it. */
const trialShare = 1 / 4;
/** So long after its first answer something is tried with others: if it has failed alone, or when it was tried. */
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

/** Of what was refused or cut off, nobody knows. */
function isTelling({ error }: EndedQuery): boolean {
  if (error === undefined) return true;
  // A status of HTTP is that of a gateway.
  return (
    mayBeOfItsParts.has(error.reason) && (error.reason !== 'server' || error.status === undefined)
  );
}

function hasFailed({ error }: EndedQuery): boolean {
  return error !== undefined;
}

function hasManyHosts({ mayHaveParts, error }: EndedQuery): boolean {
  return mayHaveParts && (error?.reason === 'too_large' || error?.reason === 'timeout');
}

/** In which size something is asked since a query about it has failed. */
interface KnownDivision extends Pick<Division, 'together'> {
  /** Monotonic time from which it is tried together with others; infinite until it is answered. */
  readonly untilMs: number;
  /** How long after its first answer that is. */
  readonly waitMs: number;
  /** Whether it was not answered in time when it was asked alone. */
  readonly hangs?: boolean;
}

/**
 * Remembers what cannot be asked together with others: each next poll asks smaller pieces, until those that
 * spoil the queries stand alone. Where nothing is answered, trials must first show that applications matter:
 * New Relic would get more to do when it can bear it least.
 */
export class QuerySizes {
  readonly #clock: Clock;
  /** By application; the one that was asked least recently comes first. */
  readonly #known = {
    applications: new Map<string, KnownDivision>(),
    hosts: new Map<string, KnownDivision>(),
  };
  /** Applications whose last poll brought no answer at all, and whether that may be because of many hosts. */
  readonly #silent = {
    applications: new Map<string, boolean>(),
    hosts: new Map<string, boolean>(),
  };
  #polls = 0;
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
      const silent = ids.flatMap((id) => this.#silent[subject].get(id) ?? []);
      if (silent.length > 0) {
        const most = Math.max(1, Math.min(mostTrials, Math.floor((spare * trialShare) / queries)));
        // By turns: parts are as many queries as all other trials of a poll.
        const isTurn = spread(this.#polls) < 0.5 && [...this.#silent.hosts.values()].includes(true);
        const isInParts = isTurn && silent.includes(true);
        const others = isTurn && subject === 'applications' ? 0 : most;
        return trialsOf(ids, this.#polls, isInParts, isInParts ? 1 : others);
      }
      const nowMs = this.#clock.monotonicMs();
      const isDivided = ({ untilMs }: KnownDivision): boolean => untilMs > nowMs;
      const known = this.#known[subject];
      const all = subjects.flatMap((one) => [...this.#known[one].values()].filter(isDivided));
      const asked = new Set(ids);
      const own = [...known].filter(([id, one]) => asked.has(id) && isDivided(one));
      const sizes = own.map(([, one]) => one);
      const [wanted, byAll] = [queriesFor(sizes), queriesFor(all)];
      const [newWanted, newByAll] = [
        queriesFor(sizes.filter(isNew)),
        queriesFor(all.filter(isNew)),
      ];
      // What may be well comes first, whichever group it is in.
      const share =
        newWanted * pieceSize(newByAll, spare / queries) +
        (wanted - newWanted) * pieceSize(byAll - newByAll, spare / queries - newByAll);
      // A part of a query is a query now and then. 1/3 three times is not quite 1.
      let left = share < wanted - 0.01 ? Math.floor(share + spread(this.#polls)) : Infinity;
      const divisions = new Map<string, Division>();
      for (const [id, one] of own.toSorted(([, a], [, b]) => Number(isNew(b)) - Number(isNew(a)))) {
        divisions.set(id, { ...one, when: left > 0.01 ? 'again' : 'later' });
        left -= queriesFor([one]);
      }
      return (id) => divisions.get(id) ?? { ...undivided, when: known.has(id) ? 'tried' : 'usual' };
    };
  }

  /** All queries of one poll have ended. Those about hosts say nothing about applications. */
  ended(queries: readonly EndedQuery[]): void {
    this.#polls += 1;
    for (const subject of subjects) {
      const own = queries.filter((query) => query.subject === subject);
      // A piece is answered if all of its queries are: one that always fails is not helped by the others.
      const failedLast = [...own, ...own.filter(hasFailed)];
      const pieces = [...new Map(failedLast.map((one) => [one.applicationIds, one])).values()];
      if (this.#learn(subject, pieces.filter(isTelling))) this.changes += 1;
    }
  }

  /** Applications whose queries hang: as many as are one group, if its two queries of what is well can be spared. */
  hanging(spare: number): ReadonlySet<string> {
    const known = subjects.flatMap((subject) => [...this.#known[subject]]);
    const ids = known.flatMap(([id, { hangs }]) => (hangs === true ? id : []));
    return new Set([...new Set(ids)].slice(0, spare < 2 ? 0 : undivided.together));
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const some of [...Object.values(this.#known), ...Object.values(this.#silent)]) {
      for (const id of some.keys()) if (!applicationIds.has(id)) some.delete(id);
    }
  }

  /** Returns whether failures have shown that the next poll must ask in another way. */
  #learn(subject: ColumnSubject, pieces: readonly EndedQuery[]): boolean {
    const known = this.#known[subject];
    const silent = this.#silent[subject];
    const isSilent = pieces.every(hasFailed) && pieces.some(({ when }) => when !== 'tried');
    let isChanged = false;
    for (const piece of pieces) {
      for (const id of piece.applicationIds) {
        const was = known.get(id);
        const after = this.#after(piece, was, isSilent);
        isChanged ||= hasFailed(piece) && !isDeepStrictEqual(after, was);
        isChanged ||= isSilent !== silent.has(id) || (isSilent && hasManyHosts(piece));
        silent.delete(id);
        known.delete(id);
        if (isSilent) silent.set(id, hasManyHosts(piece));
        if (after !== undefined) known.set(id, after);
      }
    }
    return isChanged;
  }

  /** What is known of an application of this piece from now on; `undefined` if it needs no size of its own. */
  #after(
    piece: EndedQuery,
    was: KnownDivision | undefined,
    isSilent: boolean,
  ): KnownDivision | undefined {
    const { applicationIds, when, parts } = piece;
    const { length } = applicationIds;
    if (!hasFailed(piece)) {
      if (when !== 'again') return undefined;
      const before = was ?? { together: 1 / parts, waitMs: 0, untilMs: Infinity };
      // What has only failed with others may be well with those that are well.
      const freeMs = this.#clock.monotonicMs() + before.waitMs;
      return { ...before, untilMs: Math.min(before.untilMs, freeMs), hangs: false };
    }
    // Where nothing is answered, or with all others in spite of what is known, it says nothing of this one.
    if (was === undefined ? isSilent : when === 'usual') return was;
    const before = { together: length, waitMs: 0, ...was, untilMs: Infinity };
    // It is the size, and not one of them.
    if (when === 'tried') return { ...before, waitMs: waitMs.tried };
    if (length > smallPart) return { ...before, together: Math.ceil(Math.sqrt(length)) };
    if (length > 1) return { ...before, together: 1 };
    const isOfHosts = before.together >= 1 && hasManyHosts(piece);
    const together = isOfHosts ? 1 / (moreParts * parts) : Math.min(1, before.together);
    const hangs = piece.error?.reason === 'timeout';
    return { ...before, together, waitMs: Math.max(before.waitMs, waitMs.alone), hangs };
  }
}

/** It has not failed in its size, and may be well. */
function isNew(one: KnownDivision): boolean {
  return one.waitMs === 0;
}

/** How much of what is wanted there is room for. */
function pieceSize(wanted: number, room: number): number {
  return Math.max(0, Math.min(1, room / Math.max(1, wanted)));
}

function queriesFor(divided: readonly KnownDivision[]): number {
  return divided.reduce((sum, { together }) => sum + 1 / together, 0);
}

/** At least 0 and below 1: evenly spread, also that of each n-th index. */
function spread(index: number): number {
  return (index * Math.SQRT2) % 1;
}

/** A few applications alone, others in each poll; or one in parts, if its hosts may be too many. */
function trialsOf(
  ids: readonly string[],
  poll: number,
  isInParts: boolean,
  trials: number,
): (id: string) => Division {
  const places = [...Array(trials).keys()].map((at) => spread(poll * mostTrials + at));
  const alone = new Set(places.map((place) => ids[Math.floor(place * ids.length)]));
  const trial: Division = { together: isInParts ? 1 / moreParts : 1, when: 'again' };
  return (id) => (alone.has(id) ? trial : undivided);
}
