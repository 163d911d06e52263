import { describe, expect, it } from 'vitest';
import { casesOfShards } from './account-cases.ts';
import { problemOf } from './account-model.ts';

describe('shards that meet what once broke a rule', () => {
  it.each(casesOfShards.map((one) => [one.what, one] as const))(
    'keep all rules: %s',
    async (_what, { beginning, course }) => {
      expect(await problemOf(beginning, course)).toBeUndefined();
    },
  );
});
