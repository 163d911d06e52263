import { expect } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { until } from '../support/daemon-process.ts';
import { type FaultBench, withSocketFaults } from './fault-bench.ts';
import { publishedOf } from './published-of.ts';
import type { FaultSource } from './sources.ts';

export const shop = { account: 'production', app_id: '101' };
const worker = { account: 'production', app_id: '102' };
export const success = 'newrelic_application_poll_success';
export const failures = 'newrelic_exporter_api_request_failures_total';
const lastSuccess = 'newrelic_application_last_success_timestamp_seconds';
const failed = 'newrelic_exporter_polls_failed_total';

/** Waits until a series has a value. */
export async function untilValue(
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

/** Waits until there is a line: the log is told after the page. */
async function untilLogged(bench: FaultBench, message: string): Promise<void> {
  await until(async () => (bench.logs(message).length > 0 ? true : undefined));
}

/** A fault on the wire, and what a call that meets it is counted as. */
export interface WireFault {
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** Short only where it is the timeout that must end the call. */
  readonly timeoutMs?: number;
}

/** Those that end by themselves: what is cut off, and what is too large. */
export const fewWireFaults: readonly WireFault[] = [
  { fault: { kind: 'reset_in_body' }, reason: 'reset' },
  { fault: { kind: 'huge_body', bytes: 17 * 1024 * 1024 }, reason: 'too_large' },
];

export const moreWireFaults: readonly WireFault[] = [
  { fault: { kind: 'reset' }, reason: 'reset' },
  { fault: { kind: 'close' }, reason: 'reset' },
  { fault: { kind: 'short_body' }, reason: 'reset' },
  { fault: { kind: 'garbage' }, reason: 'not_json' },
  { fault: { kind: 'silence' }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'stall' }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'drip', everyMs: 10 }, reason: 'timeout', timeoutMs: 500 },
  { fault: { kind: 'huge_headers', bytes: 100_000 }, reason: 'too_large' },
  { fault: { kind: 'gzip_bomb', bytes: 8 * 1024 * 1024 }, reason: 'not_json' },
];

/** The polls of one application meet the fault until it ends. */
export async function expectValuesKept(
  source: FaultSource,
  { fault, reason, timeoutMs = 5000 }: WireFault,
): Promise<void> {
  // The first poll takes three calls; it succeeds.
  const when = { ...source.pollsOf('101'), calls: { first: 4 } };
  await withSocketFaults(
    {
      source: source.account,
      entries: source.apart,
      script: [{ when, fault }],
      account: { timeoutMs },
    },
    async (bench) => {
      // Not of `poll_success`: the next poll, which fails, may come before we look.
      await untilValue(bench, lastSuccess, shop, (value) => value > 0);
      const before = await bench.scrape();
      // A slow poll is late before it fails.
      await untilValue(bench, failed, { account: 'production' }, (value) => value > 0);
      await untilValue(bench, success, shop, (value) => value === 0);
      const workerBefore = (await bench.scrape()).value(lastSuccess, worker) ?? NaN;
      await untilValue(bench, lastSuccess, worker, (value) => value > workerBefore);
      await untilLogged(bench, 'poll failed');
      const during = await bench.scrape();
      bench.faulty.faults.end();
      await untilValue(bench, success, shop, (value) => value === 1);
      await untilLogged(bench, 'poll works again');
      const after = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(1);
      expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
      expect(during.value(success, worker)).toBe(1);
      expect(after.total(failures, { reason })).toBeGreaterThanOrEqual(1);
      expect(after.total(failures)).toBe(after.total(failures, { reason }));
      expect(bench.logs('poll failed')).toMatchObject([{ app_id: '101', error: { reason } }]);
      expect(bench.logs('poll works again')).toHaveLength(1);
    },
  );
}

/** The lists of applications meet the fault. */
export async function expectNothingRemoved(
  source: FaultSource,
  { fault, reason, timeoutMs = 5000 }: WireFault,
): Promise<void> {
  const when = { ...source.lists, calls: { first: 2 } };
  await withSocketFaults(
    { source: source.account, script: [{ when, fault }], account: { timeoutMs } },
    async (bench) => {
      await untilValue(bench, success, shop, (value) => value === 1);
      await untilValue(bench, 'newrelic_up', {}, (value) => value === 0);
      const shopBefore = (await bench.scrape()).value(lastSuccess, shop) ?? NaN;
      await untilValue(bench, lastSuccess, shop, (value) => value > shopBefore);
      await untilLogged(bench, 'discovery failed');
      const during = await bench.scrape();
      bench.faulty.faults.end();
      await untilValue(bench, 'newrelic_up', {}, (value) => value === 1);

      expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(1);
      expect(during.series(success)).toHaveLength(2);
      expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason } }]);
      expect(bench.logs('poll failed')).toEqual([]);
    },
  );
}

/** The first answer of the application's first poll meets the fault. */
export async function expectAskedAgain(source: FaultSource, fault: Fault): Promise<void> {
  const apart = { source: source.account, entries: source.apart };
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
}
