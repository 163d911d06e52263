import type { Membership } from './membership.ts';

/**
 * A process that was told to share, or has left, may still have used its part for so long: the
 * budget's minute, and the time in which everybody looks again.
 */
const settleMs = 75_000;
/** What is always left for those who join: they need a discovery before the others make room. */
const reservedShare = 0.02;
/** What all who join at a time may use: others may have joined and left in the same minute. */
const joiningShare = 0.01;

/** Follows which processes share the work, from what DNS says of them. */
export interface PeerMembership {
  /** What DNS says now; whether the membership has changed. */
  seen(addresses: readonly string[], nowMs: number): boolean;
  /** Whether it has changed because time has passed. */
  settled(nowMs: number): boolean;
  current(): Membership;
}

/** How many members there were at a time. */
interface Count {
  readonly atMs: number;
  readonly members: number;
}

/**
 * All processes behind one DNS name are members. The budget is divided by the largest number of
 * members that the last minute saw, so that what was sent before a change counts after it. Who finds
 * others at its start owns nothing for a minute: they have to make room first.
 */
export function createPeerMembership(self: string): PeerMembership {
  let members: readonly string[] = [];
  let joinsAtMs: number | undefined;
  let counts: readonly Count[] = [];
  let isJoined = false;
  let divisor = 1;

  const advance = (nowMs: number): boolean => {
    const before = { isJoined, divisor };
    isJoined = joinsAtMs !== undefined && nowMs >= joinsAtMs;
    // The last count before the period began was in force when it began.
    const first = counts.findLastIndex(({ atMs }) => atMs <= nowMs - settleMs);
    counts = counts.slice(Math.max(0, first));
    divisor = Math.max(1, ...counts.map((count) => count.members));
    return isJoined !== before.isJoined || divisor !== before.divisor;
  };

  return {
    seen: (addresses, nowMs) => {
      const next = [...new Set(addresses)].toSorted();
      if (joinsAtMs === undefined && next.includes(self)) {
        joinsAtMs = nowMs + (next.length === 1 ? 0 : settleMs);
      }
      const isSame = next.join(' ') === members.join(' ');
      if (!isSame) {
        members = next;
        counts = [...counts, { atMs: nowMs, members: next.length }];
      }
      return advance(nowMs) || !isSame;
    },
    settled: advance,
    current: () => {
      const share = (isJoined ? 1 - reservedShare : joiningShare) / divisor;
      return {
        shard: { self, members: isJoined ? members : members.filter((one) => one !== self) },
        budgetOf: (requestsPerMinute) => Math.max(1, Math.floor(requestsPerMinute * share)),
      };
    },
  };
}
