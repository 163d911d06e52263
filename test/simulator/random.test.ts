import { describe, expect, it } from 'vitest';
import { createRandom, noiseAt } from '../../src/simulator/random.ts';

const draws = (seed: number): readonly number[] => {
  const random = createRandom(seed);
  return Array.from({ length: 2000 }, () => random.next());
};

describe('createRandom', () => {
  it('repeats its sequence for the same seed', () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
  });

  it('spreads evenly from 0 to 1', () => {
    const values = draws(7);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;

    expect(mean).toBeCloseTo(0.5, 1);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
  });

  it('draws whole numbers with both bounds included', () => {
    const random = createRandom(1);
    const values = new Set(Array.from({ length: 200 }, () => random.integer(3, 5)));

    expect([...values].toSorted((left, right) => left - right)).toEqual([3, 4, 5]);
  });
});

describe('noiseAt', () => {
  it('depends only on the seed, the subject and the minute', () => {
    expect(noiseAt(1, 204_261_410, 29_000_000)).toBe(noiseAt(1, 204_261_410, 29_000_000));
    expect(
      new Set([
        noiseAt(1, 204_261_410, 29_000_000),
        noiseAt(2, 204_261_410, 29_000_000),
        noiseAt(1, 204_261_411, 29_000_000),
        noiseAt(1, 204_261_410, 29_000_001),
      ]).size,
    ).toBe(4);
  });

  it('spreads evenly over consecutive minutes', () => {
    const values = Array.from({ length: 2000 }, (_, index) => noiseAt(1, 123_456_789, index));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;

    expect(mean).toBeCloseTo(0.5, 1);
  });
});
