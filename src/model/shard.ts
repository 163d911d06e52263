/** One of several processes that share the applications of the same accounts. */
export interface Shard {
  /** Its number, from 0. */
  readonly ordinal: number;
  /** How many there are. */
  readonly total: number;
}

/**
 * The number of the shard that polls what the key names, out of so many. Rendezvous hashing: with one
 * shard more only what the new one gets changes hands.
 */
export function ownerOf(key: string, total: number): number {
  let owner = 0;
  let highest = -1;
  for (let ordinal = 0; ordinal < total; ordinal += 1) {
    const score = hash(`${ordinal}\n${key}`);
    if (score > highest) {
      owner = ordinal;
      highest = score;
    }
  }
  return owner;
}

/** FNV-1a with a final mix, as 32 bits: the same on every machine and in every version. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    value = Math.imul(value ^ byte, 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
