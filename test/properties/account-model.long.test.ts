import { describe, expect, it } from 'vitest';
import { reportOfModel, shards, switchedSources } from './account-model.ts';

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

  it(
    'keep one budget together, where several daemons share them as shards',
    async () => {
      // Each has two or three daemons.
      expect(await reportOfModel(Math.ceil(runs / 4), shards)).toBeUndefined();
    },
    hangsAfterMs,
  );

  it(
    'show whole windows only while reloads switch their source, and keep the budget of each',
    async () => {
      expect(await reportOfModel(runs, switchedSources)).toBeUndefined();
    },
    hangsAfterMs,
  );
});
