import { describe, expect, it } from 'vitest';
import { expectSaidEverywhere } from './situation-bench.ts';
import { moreSituations } from './situation-rows.ts';

describe('what is wrong', () => {
  it.each(moreSituations)('is the same everywhere: $what', async (situation) => {
    await expect(expectSaidEverywhere(situation)).resolves.toBeUndefined();
  });
});
