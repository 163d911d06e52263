import { describe, expect, it } from 'vitest';
import { reportOfReloads } from './query-reloads.ts';

/** `FC_RUNS=1000` for more of them. */
const runs = Number(process.env['FC_RUNS'] ?? 10);
const hangsAfterMs = 60_000 + 10_000 * runs;
const seeds = Array.from({ length: 10 }, (_, index) => 1 + index);

describe('reloads of queries and applications, whatever New Relic does meanwhile', () => {
  it.each(seeds)(
    'leave no series, no state and no call that the configuration does not have: seed %i',
    async (seed) => {
      expect(await reportOfReloads(runs, seed)).toBeUndefined();
    },
    hangsAfterMs,
  );
});
