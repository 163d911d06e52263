import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, type Step, TurningAccount } from './turning-account.ts';

const numerically = (left: { readonly id: string }, right: { readonly id: string }): number =>
  Number(left.id) - Number(right.id);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'turn' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('discover'),
      variant: fc.nat(2),
      complete: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('configure'), variant: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('begin'), first: fc.nat(count) }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'end' }) },
);

describe('AccountTable, when changes take several turns', () => {
  it('loses and duplicates nothing, whatever comes between the turns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const account = new TurningAccount();
        account.discover(0, true);
        await account.rest();
        account.begin(0);
        for (const one of steps) await account.take(one);
        await account.rest();
        account.discover(1, true);
        await account.rest();
        account.endAll();
        await account.rest();

        const { table, sink, pollsEnded } = account;
        const states = [...table.states.values()];
        const seen = states.map(({ selected: { application, entry } }) => ({
          id: application.id,
          hostIds: application.hostIds,
          entry,
        }));
        expect(seen.toSorted(numerically)).toEqual(account.expected());
        expect(new Set(sink.apps.keys())).toEqual(new Set(table.states.keys()));
        expect(new Set(states.map(({ phaseIndex }) => phaseIndex)).size).toBe(states.length);
        const stable = states.filter(({ selected }) => selected.application.name.startsWith('s'));
        expect(stable.map((one) => one.pollsEnded)).toEqual(
          stable.map(({ selected }) => pollsEnded.get(selected.application.id) ?? 0),
        );
        // No poll is under way now: each application waits for its turn, once.
        expect(account.drain().toSorted()).toEqual([...table.states.keys()].toSorted());
      }),
      { numRuns: 25 },
    );
  });
});
