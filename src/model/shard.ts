/** One of several processes that share the applications of the same accounts. */
export interface Shard {
  readonly ordinal: number;
  /** How many there are. */
  readonly total: number;
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

/** Whether this process is the one that polls an application, or reports on an entry, with this key. */
export type Owns = (key: string) => boolean;

/** @param shard `undefined` if this process is the only one */
export function createOwns(shard: Shard | undefined): Owns {
  if (shard === undefined) return () => true;
  const ownerOf = createOwnerOf(shard.total);
  return (key) => ownerOf(key) === shard.ordinal;
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
