/** A seeded source of numbers: the same seed gives the same sequence. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
}

const uint32 = 2 ** 32;

/** The mulberry32 generator: small, fast, and good enough for test data. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / uint32;
  };
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
  };
}

/**
 * A number from 0 (included) to 1 that depends only on the three arguments: noise without state, so
 * that minutes can be asked for in every order.
 */
export function noiseAt(seed: number, subject: number, minute: number): number {
  let hash = seed ^ Math.imul(subject, 0x9e3779b1) ^ Math.imul(minute, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return ((hash ^ (hash >>> 16)) >>> 0) / uint32;
}
