import { describe, expect } from 'vitest';
import { eachAfter } from '../support/slow.ts';
import { expectInTurn, type FewCalls } from './few-calls-bench.ts';

const fleet = { applications: 12, hosts: 4 };

describe('1.1 4.3 an hour of a key with few calls left, with a reload in it', () => {
  eachAfter(1, [
    { quota: 45, source: 'REST' },
    { quota: 20, source: 'REST' },
    { quota: 10, source: 'REST' },
    { quota: 3, source: 'REST' },
    { quota: 1, source: 'REST' },
    { quota: 3, source: 'NerdGraph' },
    { quota: 1, source: 'NerdGraph' },
  ] satisfies readonly Omit<FewCalls, keyof typeof fleet>[])(
    '$quota a minute, by $source: lists go on, and each application is polled in turn',
    async (row) => {
      await expect(expectInTurn({ ...row, ...fleet })).resolves.toBeUndefined();
    },
  );
});
