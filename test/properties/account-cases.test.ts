import { describe, expect, it } from 'vitest';
import { shortCases } from './account-cases.ts';
import { problemOf } from './account-model.ts';

describe('accounts that meet what once broke a rule', () => {
  it.each(shortCases)('keep all rules: $what', async ({ beginning, course }) => {
    expect(await problemOf(beginning, course)).toBeUndefined();
  });
});
