import { describe, expect, it } from 'vitest';
import { httpServer } from '../newrelic/calls/loopback-server.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { withSocketFaults } from './fault-bench.ts';
import { sources } from './sources.ts';
import {
  expectAskedAgain,
  expectNothingRemoved,
  expectValuesKept,
  failures,
  fewWireFaults,
  shop,
  success,
  untilValue,
} from './wire-faults.ts';

// Most of their time they wait for the daemon to try again: they wait together.
describe.concurrent.each(sources)('$name', (source) => {
  describe('5.1 an application whose answers break on the wire', () => {
    eachAfter(1, fewWireFaults)(
      'keeps its values, disturbs no other and recovers: $fault.kind',
      async (row) => {
        await expect(expectValuesKept(source, row)).resolves.toBeUndefined();
      },
    );

    it('is asked again within the poll', slow, async () => {
      await expect(expectAskedAgain(source, { kind: 'reset_in_body' })).resolves.toBeUndefined();
    });
  });

  describe('a list of applications that breaks on the wire', () => {
    it.each(fewWireFaults.slice(0, 1))('removes nothing: $fault.kind', slow, async (row) => {
      await expect(expectNothingRemoved(source, row)).resolves.toBeUndefined();
    });
  });
});

describe.each(sources)('$name', (source) => {
  describe('6 a redirect to another host', () => {
    it('is not followed: the key goes nowhere', slow, async () => {
      const other = await httpServer((_request, response) => response.end('{}'));
      const location = `http://127.0.0.1:${other.port}/v2/applications.json`;
      const rule = {
        when: { calls: { first: 5 } },
        fault: { kind: 'redirect', location },
      } as const;
      await withSocketFaults({ source: source.account, script: [rule] }, async (bench) => {
        await untilValue(
          bench,
          failures,
          { operation: 'list_applications', reason: 'redirect' },
          (value) => value > 1,
        );
        await untilValue(bench, success, shop, (value) => value === 0);

        expect(bench.faulty.faults.hits().length).toBeGreaterThan(2);
        expect(other.connections()).toBe(0);
      });
    });
  });
});
