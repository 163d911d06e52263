import { expect, it } from 'vitest';
import { callsInHalfAnHour } from './query-calls.ts';

it.each([
  ['10m', 3],
  ['60s', 30],
])(
  'a query has one call in each interval, whatever goes beside it: every %s',
  async (interval, count) => {
    await expect(callsInHalfAnHour(interval)).resolves.toBe(count);
  },
);
