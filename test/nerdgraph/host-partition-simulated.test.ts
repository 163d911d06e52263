import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blindPartsOf, type HostSubset, partsOf } from '../../src/nerdgraph/host-partition.ts';
import { hostFacets, metricsNrql } from '../../src/nerdgraph/nrql.ts';
import { aNerdgraphAccount } from '../simulator/nerdgraph-account.ts';

const window = { fromMs: Date.UTC(2026, 8, 1, 9, 50), toMs: Date.UTC(2026, 8, 1, 9, 55) };

/** A function that asks a simulated account with these hosts for those of a part. */
function accountWith(names: readonly string[]): (part: HostSubset) => readonly string[] {
  const { nrql } = aNerdgraphAccount({
    traffic: 'flat',
    applications: [{ id: 1, kind: 'web', webRpm: 60, hosts: names.map((name) => ({ name })) }],
  });
  const question = { applicationIds: ['1'], window, facets: hostFacets, columns: [] };
  return ({ condition }) =>
    nrql(metricsNrql({ ...question, condition }))
      .results.map(({ host }) => String(host))
      .toSorted();
}

/** Names such as those of pods and addresses, and any others, with everything that needs an escape. */
const hostName = fc.oneof(
  fc.stringMatching(/^web-\d{1,3}(\.example\.com)?$/),
  fc.stringMatching(/^ip-10-\d{1,3}-\d{1,3}$/),
  fc.stringMatching(/^[a-zA-Z0-9.'"\\%()é-]{1,12}$/),
);

describe('the parts of the hosts of an application', () => {
  it('mean the same to NRQL as to us', () => {
    fc.assert(
      fc.property(fc.uniqueArray(hostName, { minLength: 2, maxLength: 12 }), (names) => {
        const hostsOf = accountWith(names);
        for (const part of [...partsOf(names, 2), ...blindPartsOf(4)]) {
          expect(hostsOf(part)).toEqual(names.filter((name) => part.has(name)).toSorted());
        }
      }),
      { seed: 1, numRuns: 60 },
    );
  });
});
