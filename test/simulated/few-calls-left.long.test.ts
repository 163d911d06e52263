import { describe, expect, it } from 'vitest';
import { expectInTurn, type FewCalls } from './few-calls-bench.ts';

const few = { source: 'NerdGraph', applications: 12, hosts: 4 } as const;

describe('1.1 4.3 an hour of a key of NerdGraph with few calls left, with a reload in it', () => {
  it.each([
    { quota: 45, ...few },
    { quota: 20, ...few },
    { quota: 10, ...few },
  ] satisfies readonly FewCalls[])(
    '$quota a minute: lists go on, and each application is polled in turn',
    async (row) => {
      await expect(expectInTurn(row)).resolves.toBeUndefined();
    },
  );
});
