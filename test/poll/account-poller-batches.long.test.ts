import { expect, it } from 'vitest';
import { expectFewBatches } from './batch-bench.ts';

it.each([
  { what: 'all at once', everyMs: 60_000, each: 1000 },
  { what: 'sixty every 17 seconds', everyMs: 17_000, each: 60 },
  { what: 'forty every 40 seconds', everyMs: 40_000, each: 40 },
  { what: '210 every 7 seconds', everyMs: 7000, each: 210 },
])(
  'batches are few, as many as planned within 5 %, and none is too early or late, when applications appeared $what',
  async (growth) => {
    await expect(expectFewBatches({ ...growth, all: 1000 })).resolves.toBeUndefined();
  },
);
