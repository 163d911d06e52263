import { describe, expect, it } from 'vitest';
import { slow } from '../support/slow.ts';
import { comeAndGo } from './many-accounts.ts';

describe('60 accounts with a key each', () => {
  it(
    'are all ready at once, and 40 of them come back after a reload without them',
    slow,
    async () => {
      expect(await comeAndGo(60, 40)).toEqual({ wrong: [], problems: [] });
    },
  );
});
