import { describe, expect, it } from 'vitest';
import { rotatedHourly } from './key-rotation.ts';

describe('keys that were replaced', () => {
  it('are forgotten an hour later, so that the memory of keys does not grow', async () => {
    const { remembered } = await rotatedHourly(8);

    expect(remembered).toBe(0);
  });
});
