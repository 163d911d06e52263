import { describe, expect, it } from 'vitest';
import { nothingToAskOutcome } from '../../../src/model/poll-outcome.ts';
import { namedHostsOf } from '../../../src/tools/compare/compare-hosts.ts';

describe('namedHostsOf', () => {
  it('counts names: of hosts that answered or failed, and not of unknown ones', () => {
    const hostNames = new Map(Object.entries({ '11': 'web', '12': 'web', '13': 'db' }));
    const failed = new Set(['11', '12', '13', '14', 'application', 'hosts']);
    const hosts = new Map([['web', []]]);
    const application = { id: '1', name: 'shop' };

    const counted = namedHostsOf(application, {
      rest: { ...nothingToAskOutcome, failed, hostNames },
      nerdgraph: {
        ...nothingToAskOutcome,
        reading: { windowEndMs: 0, series: [], application: [], hosts },
      },
    });

    expect(counted).toEqual({ ...application, rest: 3, nerdgraph: 1 });
  });
});
