import { describe, expect, it } from 'vitest';
import { rotatedHourly } from './key-rotation.ts';

describe('a key that is replaced every hour for 30 days', () => {
  it('is in force within a minute, stands nowhere, and leaves no gap', async () => {
    const { late, leaks, gaps, refused, mostRefused } = await rotatedHourly(720);

    expect({ late, leaks, gaps }).toEqual({ late: 0, leaks: [], gaps: 0 });
    expect(refused).toBeGreaterThanOrEqual(240);
    expect(mostRefused).toBeLessThanOrEqual(2);
  });
});
