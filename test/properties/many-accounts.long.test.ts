import { describe, expect, it } from 'vitest';
import { comeAndGo } from './many-accounts.ts';

describe('300 accounts with a key each', () => {
  it('are all ready at once, and 200 of them come back after a reload without them', async () => {
    expect(await comeAndGo(300, 200)).toEqual({ wrong: [], problems: [] });
  });
});
