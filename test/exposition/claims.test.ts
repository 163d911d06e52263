import { describe, expect, it } from 'vitest';
import { createClaims } from '../../src/exposition/claims.ts';

describe('createClaims', () => {
  it('grants the labels to the first claim, then to the others in the order of their claims', () => {
    const claims = createClaims<number>();
    const granted = [1, 2, 3].map((owner) => claims.claim('x', owner));
    const again = [claims.claim('x', 1), claims.claim('x', 2)];

    const heirs = [1, 3, 2].map((owner) => claims.release('x', owner));

    expect(granted).toEqual([true, false, false]);
    expect(again).toEqual([true, false]);
    expect(heirs).toEqual([2, undefined, undefined]);
    expect(claims.claim('x', 4)).toBe(true);
  });

  it('ignores the release of labels that were never claimed', () => {
    const claims = createClaims<number>();

    expect(claims.release('x', 1)).toBeUndefined();
  });
});
