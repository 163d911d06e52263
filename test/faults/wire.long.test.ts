import { describe, expect, it } from 'vitest';
import { sources } from './sources.ts';
import {
  expectAskedAgain,
  expectNothingRemoved,
  expectValuesKept,
  fewWireFaults,
  moreWireFaults,
} from './wire-faults.ts';

// Most of their time they wait for the daemon to try again: they wait together.
describe.concurrent.each(sources)('$name', (source) => {
  describe('an application whose answers break on the wire', () => {
    it.each(moreWireFaults)(
      'keeps its values, disturbs no other and recovers: $fault.kind',
      async (row) => {
        await expect(expectValuesKept(source, row)).resolves.toBeUndefined();
      },
    );

    it('is asked again within the poll', async () => {
      await expect(expectAskedAgain(source, { kind: 'silence' })).resolves.toBeUndefined();
    });
  });

  describe('a list of applications that breaks on the wire', () => {
    const kinds = new Set(['short_body', 'drip', 'huge_body']);

    it.each([...fewWireFaults, ...moreWireFaults].filter(({ fault }) => kinds.has(fault.kind)))(
      'removes nothing: $fault.kind',
      async (row) => {
        await expect(expectNothingRemoved(source, row)).resolves.toBeUndefined();
      },
    );
  });
});
