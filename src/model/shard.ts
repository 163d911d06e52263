/** The part of the applications that one of several processes polls, and its share of the budget. */
export interface Shard {
  /** This process; one of the members, unless it has not been admitted yet. */
  readonly self: string;
  /** All processes that share the work, without duplicates, in the same order everywhere. */
  readonly members: readonly string[];
}

/**
 * Whether this process is responsible for what the key names: exactly one member is. Rendezvous
 * hashing: when a member comes or goes only what it gets or had changes hands.
 */
export function isOwn({ self, members }: Shard, key: string): boolean {
  let owner: string | undefined;
  let highest = -1;
  for (const member of members) {
    const score = hash(`${member}\n${key}`);
    if (score > highest) {
      owner = member;
      highest = score;
    }
  }
  return owner === self;
}

/** This process' part of a budget; the parts of all members together never exceed it. */
export function shareOf({ self, members }: Shard, requestsPerMinute: number): number {
  const index = members.indexOf(self);
  if (index === -1) return 0;
  const remainder = requestsPerMinute % members.length;
  return Math.floor(requestsPerMinute / members.length) + (index < remainder ? 1 : 0);
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
