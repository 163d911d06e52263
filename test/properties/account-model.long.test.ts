import { describe, expect, it } from 'vitest';
import { reportOfModel } from './account-model.ts';

/** `FC_RUNS=1000` for more of them. */
const runs = Number(process.env['FC_RUNS'] ?? 40);
const hangsAfterMs = 60_000 + 10_000 * runs;

describe('accounts to which anything may happen', () => {
  it(
    'keep their budget and publish the truth, and all of it once nothing disturbs',
    async () => {
      expect(await reportOfModel(runs)).toBeUndefined();
    },
    hangsAfterMs,
  );
});
