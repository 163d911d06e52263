import { describe, expect, it } from 'vitest';
import { rotatedHourly } from './key-rotation.ts';

describe('6 8.4 a key that is replaced every hour for eight hours', () => {
  it('is in force within a minute, stands nowhere, leaves no gap, and is forgotten an hour later', async () => {
    const { refused, mostRefused, ...rest } = await rotatedHourly(8);

    expect(rest).toEqual({ late: 0, leaks: [], gaps: 0, remembered: 0 });
    expect(refused).toBeGreaterThanOrEqual(4);
    expect(mostRefused).toBeLessThanOrEqual(2);
  });
});
