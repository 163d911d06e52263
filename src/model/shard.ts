/** One of several processes that share the applications of the same accounts. */
export interface Shard {
  /** Its number, from 0. */
  readonly ordinal: number;
  /** How many there are. */
  readonly total: number;
  /**
   * Whether the budget of the account is divided evenly among the shards. Accounts that share a key
   * need that: otherwise each would be left with the smallest of their shares.
   */
  readonly isEven?: boolean;
}

/**
 * Returns a function from a key to the number of the shard that polls what the key identifies.
 * Rendezvous hashing: a new shard takes over its own keys, and all others stay where they are.
 */
export function createOwnerOf(total: number): (key: string) => number {
  // The part of the hash that comes from the shard's number is the same for every key.
  const begun = Uint32Array.from({ length: total }, (_, ordinal) =>
    extended(fnvOffset, encoder.encode(`${ordinal}\n`)),
  );
  return (key) => {
    const bytes = encoder.encode(key);
    let owner = 0;
    let highest = -1;
    for (const [ordinal, value] of begun.entries()) {
      const score = mixed(extended(value, bytes));
      if (score > highest) {
        owner = ordinal;
        highest = score;
      }
    }
    return owner;
  };
}

/** What the shards of one account need, in calls a minute. */
export interface ShardDemands {
  /** For the polls of each shard, by its number. */
  readonly polls: readonly number[];
  /** For the discoveries, which every shard makes itself. */
  readonly discovery: number;
}

/**
 * The part of a budget that each shard may use, in whole calls a minute, at least one. All parts
 * together never exceed the budget, if it is at least one for each shard. If the budget is large
 * enough, each shard gets what it needs, and the rest is divided evenly. If not, the intervals of
 * all shards are stretched alike.
 */
export function sharesOf(budget: number, { polls, discovery }: ShardDemands): readonly number[] {
  const total = polls.length;
  const free = budget - total;
  const fixed = Math.min(Math.max(0, discovery - 1), free / total);
  const sum = polls.reduce((all, one) => all + one, 0);
  const left = free - total * fixed;
  return polls.map((one) => {
    const part = sum <= left || sum === 0 ? one + (left - sum) / total : (left * one) / sum;
    // A sum of fractions may be off in the last digit.
    return 1 + Math.floor(fixed + part + 1e-9);
  });
}

const encoder = new TextEncoder();
const fnvOffset = 0x811c9dc5;

/** FNV-1a, as 32 bits: the same on every machine and in every version. */
function extended(begun: number, bytes: Uint8Array): number {
  let value = begun;
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193);
  return value;
}

function mixed(begun: number): number {
  let value = Math.imul(begun ^ (begun >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
