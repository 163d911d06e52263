import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { until } from '../support/daemon-process.ts';
import { httpServer } from '../transport/loopback-server.ts';
import { type FaultBench, withSocketFaults } from './fault-bench.ts';
import { publishedOf } from './published-of.ts';
import { sources } from './sources.ts';

const shop = { account: 'production', app_id: '101' };
const worker = { account: 'production', app_id: '102' };
const success = 'newrelic_application_poll_success';
const failures = 'newrelic_exporter_api_request_failures_total';
const lastSuccess = 'newrelic_application_last_success_timestamp_seconds';

/** Waits until a series has a value. */
async function untilValue(
  bench: FaultBench,
  name: string,
  labels: Readonly<Record<string, string>>,
  isWanted: (value: number) => boolean,
): Promise<void> {
  await until(async () => {
    const value = (await bench.scrape()).value(name, labels);
    return value !== undefined && isWanted(value) ? true : undefined;
  });
}

interface Row {
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** Short only where it is the timeout that must end the call. */
  readonly timeoutMs?: number;
}

const rows: readonly Row[] = [
  { fault: { kind: 'reset' }, reason: 'reset' },
  { fault: { kind: 'reset_in_body' }, reason: 'reset' },
  { fault: { kind: 'close' }, reason: 'reset' },
  { fault: { kind: 'short_body' }, reason: 'reset' },
  { fault: { kind: 'garbage' }, reason: 'not_json' },
  { fault: { kind: 'silence' }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'stall' }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'drip', everyMs: 10 }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'huge_body', bytes: 17 * 1024 * 1024 }, reason: 'too_large' },
  { fault: { kind: 'huge_headers', bytes: 100_000 }, reason: 'too_large' },
  { fault: { kind: 'gzip_bomb', bytes: 8 * 1024 * 1024 }, reason: 'not_json' },
];

// Most of their time they wait for the daemon to try again: they wait together.
describe.concurrent.each(sources)('$name', (source) => {
  const apart = { source: source.account, entries: source.apart };

  describe('an application whose answers break on the wire', () => {
    it.each(rows)(
      'keeps its values, disturbs no other and recovers: $fault.kind',
      async ({ fault, reason, timeoutMs = 5000 }) => {
        // The first poll takes three calls; it succeeds.
        const when = { ...source.pollsOf('101'), calls: { first: 4 } };
        await withSocketFaults(
          { ...apart, script: [{ when, fault }], account: { timeoutMs } },
          async (bench) => {
            // Not of `poll_success`: the next poll, which fails, may come before we look.
            await untilValue(bench, lastSuccess, shop, (value) => value > 0);
            const before = await bench.scrape();
            await untilValue(bench, success, shop, (value) => value === 0);
            const workerBefore = (await bench.scrape()).value(lastSuccess, worker) ?? NaN;
            await untilValue(bench, lastSuccess, worker, (value) => value > workerBefore);
            const during = await bench.scrape();
            bench.faulty.faults.end();
            await untilValue(bench, success, shop, (value) => value === 1);
            const after = await bench.scrape();

            expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(3);
            expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
            expect(during.value(success, worker)).toBe(1);
            expect(after.total(failures, { reason })).toBeGreaterThanOrEqual(3);
            expect(after.total(failures)).toBe(after.total(failures, { reason }));
            expect(bench.logs('poll failed')).toMatchObject([{ app_id: '101', error: { reason } }]);
            expect(bench.logs('poll works again')).toHaveLength(1);
          },
        );
      },
    );

    it.each([
      { fault: { kind: 'reset_in_body' } },
      { fault: { kind: 'short_body' } },
      { fault: { kind: 'silence' } },
    ] as const)('is asked again within the poll: one $fault.kind', async ({ fault }) => {
      const when = { ...source.pollsOf('101'), calls: { last: 1 } };
      const account = { timeoutMs: 1000 };
      await withSocketFaults({ ...apart, script: [{ when, fault }], account }, async (bench) => {
        await untilValue(bench, success, shop, (value) => value === 1);
        const page = await bench.scrape();

        expect(bench.faulty.faults.hits()).toHaveLength(1);
        expect(page.total('newrelic_exporter_api_request_retries_total')).toBe(1);
        expect(page.total('newrelic_exporter_polls_failed_total')).toBe(0);
        expect(bench.logs('poll failed')).toEqual([]);
      });
    });
  });

  describe('a list of applications that breaks on the wire', () => {
    const kinds = new Set<Fault['kind']>(['reset_in_body', 'short_body', 'drip', 'huge_body']);

    it.each(rows.filter(({ fault }) => kinds.has(fault.kind)))(
      'removes nothing: $fault.kind',
      async ({ fault, reason, timeoutMs = 5000 }) => {
        const when = { ...source.lists, calls: { first: 2 } };
        await withSocketFaults(
          { source: source.account, script: [{ when, fault }], account: { timeoutMs } },
          async (bench) => {
            await untilValue(bench, success, shop, (value) => value === 1);
            await untilValue(bench, 'newrelic_up', {}, (value) => value === 0);
            const shopBefore = (await bench.scrape()).value(lastSuccess, shop) ?? NaN;
            await untilValue(bench, lastSuccess, shop, (value) => value > shopBefore);
            const during = await bench.scrape();
            bench.faulty.faults.end();
            await untilValue(bench, 'newrelic_up', {}, (value) => value === 1);

            expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(1);
            expect(during.series(success)).toHaveLength(2);
            expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason } }]);
            expect(bench.logs('poll failed')).toEqual([]);
          },
        );
      },
    );
  });
});

describe.each(sources)('$name', (source) => {
  describe('a redirect to another host', () => {
    it('is not followed: the key goes nowhere', async () => {
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
