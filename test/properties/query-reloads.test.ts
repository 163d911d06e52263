import { describe, expect, it } from 'vitest';
import { slow } from '../support/slow.ts';
import { reportOfReloads } from './query-reloads.ts';

/** The long version of this file tries more. */
describe('8.2 8.3 reloads of queries and applications, whatever New Relic does meanwhile', () => {
  it(
    'leave no series, no state and no call that the configuration does not have',
    slow,
    async () => {
      expect(await reportOfReloads(4, 1)).toBeUndefined();
    },
  );
});
