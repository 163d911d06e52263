import { describe, expect } from 'vitest';
import { eachAfter } from '../support/slow.ts';
import { everySecondOf, expectOthersUnharmed } from './spoilt-queries.ts';

describe('5.1 every second application of 40 that spoils the queries of NerdGraph', () => {
  eachAfter(0, [12, 800])(
    'takes the values of no other with %i calls a minute, and leaves no trace',

    async (requestsPerMinute) => {
      const trouble = everySecondOf(40, requestsPerMinute);

      await expect(expectOthersUnharmed(trouble)).resolves.toBeUndefined();
    },
  );
});
