import { describe, expect } from 'vitest';
import { eachAfter } from '../support/slow.ts';
import { shortCases } from './account-cases.ts';
import { problemOf } from './account-model.ts';

describe('accounts that meet what once broke a rule', () => {
  eachAfter(0, shortCases)('keep all rules: $what', async ({ beginning, course }) => {
    expect(await problemOf(beginning, course)).toBeUndefined();
  });
});
