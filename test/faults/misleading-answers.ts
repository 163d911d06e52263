import { expect } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import type { AccountSource } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import {
  manyApplications,
  type TimedBench,
  type VendorOptions,
  withTimedFaults,
} from './fault-bench.ts';
import { freshness } from './freshness.ts';
import type { Scrape } from './scrape.ts';
import { byNerdGraph } from './sources.ts';

export const production = { account: 'production' };
export const app = { account: 'production', app_id: '1000' };
export const success = 'newrelic_application_poll_success';
export const failures = 'newrelic_exporter_api_request_failures_total';
export const source: AccountSource = byNerdGraph.account;

/** The two kinds of queries of a poll, and what each brings. */
export const parts = {
  applications: {
    name: 'newrelic_application_requests_per_minute',
    asked: 'FACET appId LIMIT',
    operation: 'application_metrics',
  },
  hosts: {
    name: 'newrelic_application_host_requests_per_minute',
    asked: 'FACET appId, host LIMIT',
    operation: 'host_metrics',
  },
} as const;
type Part = keyof typeof parts;

/** So many calls that hardly two windows have the same number. */
const applications = manyApplications(3, 2).map((one) => ({ ...one, webRpm: 6_000_000 }));
export const fleet: FleetOptions = { applications };
/** The third application is not asked for. What is held ends between two polls. */
export const entries: NonNullable<VendorOptions['entries']> = [
  { selector: { kind: 'match', pattern: /[01]$/u }, poll: { staleAfterMs: 4.75 * minuteMs } },
];
const both = ['production 1000', 'production 1001'];

/** As much of the value of `nrql` as is changed here. */
interface Answer {
  results: Record<string, unknown>[];
  totalResult: { calls: number } | null;
  otherResult: { calls: number } | null;
}
export type Change = (answer: Answer) => void;

export interface Misleading {
  readonly what: string;
  readonly part: Part;
  /** What New Relic does, or what its answer becomes on its way. */
  readonly fault: Fault | Change;
  readonly reason: FailureReason;
  readonly says: string;
}

function otherWindow(beginMinutes: number, endMinutes: number): Fault {
  return { kind: 'other_window', beginMinutes, endMinutes };
}

const otherParts: Readonly<Record<Part, Part>> = { applications: 'hosts', hosts: 'applications' };

/** The faults that either part may have. */
function rowsOf(part: Part): readonly Misleading[] {
  const schema = { part, reason: 'schema' } as const;
  const { asked } = parts[part];
  return [
    {
      what: 'rows are missing without a sign',
      part,
      fault: { kind: 'short', keep: 0, sign: 'none' },
      reason: 'schema',
      says: 'it adds up to 0 of',
    },
    {
      what: 'all rows beside an error',
      part,
      fault: { kind: 'warning', message: 'shard lost' },
      reason: 'server',
      says: 'shard lost',
    },
    {
      what: 'rows are missing beside an error',
      part,
      fault: { kind: 'short', keep: 0, sign: 'error' },
      reason: 'too_large',
      says: 'NRDB query duration exceeded the set timeout',
    },
    {
      ...schema,
      what: 'a row twice',
      fault: { kind: 'facet_twice' },
      says: 'two rows for the same',
    },
    {
      ...schema,
      what: 'the answer to the other query',
      fault: { kind: 'other_answer', replace: asked, by: parts[otherParts[part]].asked },
      says: 'grouped by something else',
    },
    {
      ...schema,
      what: 'the answer about another application',
      fault: { kind: 'other_answer', replace: 'appId IN (1000', by: 'appId IN (1002' },
      says: 'a row that was not asked for',
    },
    {
      ...schema,
      what: 'an hour instead of five minutes',
      fault: otherWindow(-55, 0),
      says: 'about another time',
    },
    {
      ...schema,
      what: 'half an hour before',
      fault: otherWindow(-30, -30),
      says: 'about another time',
    },
    {
      ...schema,
      what: 'half a minute later',
      fault: otherWindow(0.5, 0.5),
      says: 'about another time',
    },
  ];
}

/** Of what is told in other words, each once, in turn of one part and of the other. */
const fewOfBoth: Readonly<Record<Part, readonly string[]>> = {
  applications: [
    'rows are missing without a sign',
    'rows are missing beside an error',
    'the answer about another application',
    'an hour instead of five minutes',
  ],
  hosts: ['all rows beside an error', 'a row twice', 'the answer to the other query'],
};
const ofBoth = [...rowsOf('applications'), ...rowsOf('hosts')];
const isOfFew = ({ part, what }: Misleading): boolean => fewOfBoth[part].includes(what);

export const fewMisleading: readonly Misleading[] = [
  ...ofBoth.filter(isOfFew),
  {
    what: 'half of the hosts are missing without a sign',
    part: 'hosts',
    fault: { kind: 'short', keep: 1, sign: 'none' },
    reason: 'schema',
    says: 'parts of the answer are missing',
  },
  {
    what: 'rows are missing, and are counted as others',
    part: 'hosts',
    fault: { kind: 'truncated', rows: 0 },
    reason: 'too_large',
    says: 'and there are more',
  },
  {
    what: 'others are counted, and the sum is without them',
    part: 'hosts',
    fault: (answer) => {
      answer.otherResult = { calls: 5 };
    },
    reason: 'schema',
    says: 'the answer has too much',
  },
  {
    what: 'a sum of less than the rows',
    part: 'applications',
    fault: ({ totalResult }) => {
      if (totalResult !== null) totalResult.calls -= 1;
    },
    reason: 'schema',
    says: 'the answer has too much',
  },
  {
    what: 'no sum',
    part: 'applications',
    fault: (answer) => {
      answer.totalResult = null;
    },
    reason: 'schema',
    says: 'does not say what it adds up to',
  },
  {
    what: 'a minute later than the applications',
    part: 'hosts',
    fault: otherWindow(1, 1),
    reason: 'schema',
    says: 'another time than others of this poll',
  },
];

/** What the few have of the other part, or of another time. */
export const moreMisleading: readonly Misleading[] = ofBoth.filter((row) => !isOfFew(row));

/** The fault, or the change on the wire, from the first minute to the last for calls with this operation. */
export function misleading(
  fault: Fault | Change,
  { part, fromMs, untilMs }: { part: Part; fromMs: number; untilMs: number },
): Pick<VendorOptions, 'script' | 'network'> {
  const { asked, operation } = parts[part];
  if (typeof fault !== 'function') {
    return { script: [{ when: { queryIncludes: asked, fromMs, untilMs }, fault }] };
  }
  return {
    network: (wire, clock) => {
      const startMs = clock.monotonicMs();
      return {
        ...wire,
        send: async (...request) => {
          const answer = await wire.send(...request);
          const atMs = clock.monotonicMs() - startMs;
          if (request[0].operation !== operation || atMs < fromMs || atMs >= untilMs) return answer;
          const body = JSON.parse(answer.body) as {
            data: { actor: { account: { nrql: Answer } } };
          };
          fault(body.data.actor.account.nrql);
          return { ...answer, body: JSON.stringify(body) };
        },
      };
    },
  };
}

function valuesOf(page: Scrape, part: Part): readonly (number | undefined)[] {
  const { name } = parts[part];
  return page.series(name, app).map((labels) => page.value(name, labels));
}

/** One page at the end of each of so many minutes. */
export async function pagesOf(bench: TimedBench, minutes: number): Promise<readonly Scrape[]> {
  const pages: Scrape[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await bench.advance(minuteMs);
    pages.push(await bench.scrape());
  }
  return pages;
}

/** No two pages have a value in common. */
export function expectFresh(pages: readonly Scrape[], part: Part): void {
  const all = pages.flatMap((page) => valuesOf(page, part));
  const each = part === 'hosts' ? 2 : 1;
  expect(all).toHaveLength(each * pages.length);
  expect(new Set(all).size).toBe(all.length);
}

/** What the answers were to bring is held and dropped in its time; nothing else is. */
export async function expectHeldAlone({ part, fault, reason, says }: Misleading): Promise<void> {
  const { operation } = parts[part];
  const when = { part, fromMs: 2 * minuteMs, untilMs: 11 * minuteMs };
  const options = { source, entries, simulator: { fleet }, ...misleading(fault, when) };
  await withTimedFaults(options, async (bench) => {
    await bench.advance(2 * minuteMs - 1);
    const before = await bench.scrape();
    const held = await pagesOf(bench, 4);
    await bench.advance(0.8 * minuteMs);
    const dropped = await bench.scrape();
    const stale = await pagesOf(bench, 4);
    const status = bench.daemon.status()[0];
    await bench.advance(3 * minuteMs);
    const after = await bench.scrape();

    const other = otherParts[part];
    const last = stale.at(-1);
    for (const page of held) expect(valuesOf(page, part)).toEqual(valuesOf(before, part));
    for (const page of [dropped, ...stale]) expect(valuesOf(page, part)).toEqual([]);
    expect(valuesOf(dropped, other)).toHaveLength(other === 'hosts' ? 2 : 1);
    for (const page of [...held, ...stale]) expect(page.value(success, app)).toBe(0);
    expectFresh([...held, ...stale], other);
    expect(last?.value(failures, { ...production, operation, reason })).toBeGreaterThan(4);
    expect(last?.total(failures, production)).toBe(
      last?.value(failures, { ...production, operation, reason }),
    );
    expect(last?.value('newrelic_up', production)).toBe(1);
    expect(status?.error).toBeUndefined();
    expect(bench.logs('poll failed').filter(({ app_id: id }) => id === '1000')).toMatchObject([
      { error: { reason, message: expect.stringContaining(says) } },
    ]);
    expect(valuesOf(after, part)).toHaveLength(valuesOf(before, part).length);
    expect(freshness(after, bench.clock)).toEqual(expect.arrayContaining(both));
  });
}
