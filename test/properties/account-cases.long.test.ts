import { describe, expect, it } from 'vitest';
import { longCases } from './account-cases.ts';
import { problemOf } from './account-model.ts';

describe('accounts and shards that meet what once broke a rule, for hours', () => {
  it.each(longCases)('keep all rules: $what', async ({ beginning, course }) => {
    expect(await problemOf(beginning, course)).toBeUndefined();
  });
});
