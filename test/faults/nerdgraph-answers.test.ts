import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { maxRows } from '../../src/newrelic/nerdgraph/nrql.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import {
  manyApplications,
  type TimedBench,
  type VendorOptions,
  withTimedFaults,
} from './fault-bench.ts';
import { freshness } from './freshness.ts';
import type { Scrape } from './scrape.ts';
import { byNerdGraph } from './sources.ts';

const production = { account: 'production' };
const app = { ...production, app_id: '1000' };
const success = 'newrelic_application_poll_success';
const failures = 'newrelic_exporter_api_request_failures_total';
const unexpected = 'newrelic_exporter_unexpected_answers_total';
const source = byNerdGraph.account;

/** The two kinds of queries of a poll, and what each brings. */
const parts = {
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
const fleet = { applications };
/** The third application is not asked for. What is held ends between two polls. */
const entries = [
  { selector: { kind: 'match', pattern: /[01]$/u }, poll: { staleAfterMs: 4.75 * minuteMs } },
] as const;
const both = ['production 1000', 'production 1001'];

/** As much of the value of `nrql` as is changed here. */
interface Answer {
  results: Record<string, unknown>[];
  totalResult: { calls: number } | null;
  otherResult: { calls: number } | null;
}
type Change = (answer: Answer) => void;

interface Row {
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
function rowsOf(part: Part): readonly Row[] {
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

const rows: readonly Row[] = [
  ...rowsOf('applications'),
  ...rowsOf('hosts'),
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
    says: 'parts of the answer are missing',
  },
  {
    what: 'a sum of less than the rows',
    part: 'applications',
    fault: ({ totalResult }) => {
      if (totalResult !== null) totalResult.calls -= 1;
    },
    reason: 'schema',
    says: 'parts of the answer are missing',
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

/** The fault, or the change on the wire, from the first minute to the last for calls with this operation. */
function misleading(
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
async function pagesOf(bench: TimedBench, minutes: number): Promise<readonly Scrape[]> {
  const pages: Scrape[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await bench.advance(minuteMs);
    pages.push(await bench.scrape());
  }
  return pages;
}

/** No two pages have a value in common. */
function expectFresh(pages: readonly Scrape[], part: Part): void {
  const all = pages.flatMap((page) => valuesOf(page, part));
  const each = part === 'hosts' ? 2 : 1;
  expect(all).toHaveLength(each * pages.length);
  expect(new Set(all).size).toBe(all.length);
}

describe('11.1 an answer to a query for values that is not whole, or to another question', () => {
  it.each(rows)(
    'holds what it was to bring, and that alone: $part, $what',
    async ({ part, fault, reason, says }) => {
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
    },
  );

  it('fails with another host than was asked for', async () => {
    const when = { part: 'hosts', fromMs: 2 * minuteMs, untilMs: 3 * minuteMs } as const;
    const fault: Change = ({ results }) => {
      for (const row of results) {
        row['facet'] = [row['appId'], 'web-0-1'];
        row['host'] = 'web-0-1';
      }
    };
    const [entry] = entries;
    const own = { ...entry, hosts: { kind: 'self', names: ['web-0-0'] } } as const;
    const options = {
      source,
      entries: [own],
      simulator: { fleet },
      ...misleading(fault, when),
    };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(2 * minuteMs - 1);
      const pages = await pagesOf(bench, 3);

      const { name } = parts.hosts;
      const failed = { ...production, operation: 'host_metrics', reason: 'schema' };
      expect(pages.map((page) => page.series(name, app).map(({ host_id: id }) => id))).toEqual(
        pages.map(() => ['web-0-0']),
      );
      expect(pages.map((page) => page.value(failures, failed))).toEqual([1, 1, 1]);
      expect(pages.map((page) => page.value(success, app))).toEqual([0, 1, 1]);
    });
  });

  it('fails with as many rows as New Relic returns at most, though the sum agrees', async () => {
    const when = { part: 'hosts', fromMs: 2 * minuteMs, untilMs: 3 * minuteMs } as const;
    const fault: Change = ({ results }) => {
      const [{ appId } = { appId: '' }] = results;
      for (let index = results.length; index < maxRows; index += 1) {
        const host = `unseen-${index}`;
        results.push({ facet: [appId, host], appId, host, calls: 0, live: 1, c1: null });
      }
    };
    const options = { source, entries, simulator: { fleet }, ...misleading(fault, when) };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(2 * minuteMs - 1);
      const before = await bench.scrape();
      const [held, after] = await pagesOf(bench, 2);

      const { name } = parts.hosts;
      const failed = { ...production, operation: 'host_metrics', reason: 'too_large' };
      expect(before.series(name, production)).toHaveLength(4);
      expect(held?.series(name, production)).toEqual(before.series(name, production));
      expect(held?.value(failures, failed)).toBe(1);
      expect(held?.value(success, app)).toBe(0);
      expect(after?.value(success, app)).toBe(1);
    });
  });

  it.each<{ what: string; fault: Fault }>([
    { what: 'a message', fault: { kind: 'messages', message: 'may be incomplete' } },
    {
      what: 'the notice that a field is deprecated',
      fault: { kind: 'warning', message: 'This field is deprecated! It may be incomplete.' },
    },
  ])(
    'is not one that has $what beside all its rows: that is counted, and told once',
    async ({ fault }) => {
      const script = [{ when: { operation: 'nrql' }, fault }] as const;
      const options = { source, entries, simulator: { fleet }, script };
      await withTimedFaults(options, async (bench) => {
        await bench.advance(minuteMs);
        const pages = await pagesOf(bench, 5);

        const last = pages.at(-1);
        expectFresh(pages, 'applications');
        expectFresh(pages, 'hosts');
        for (const page of pages) expect(page.value(success, app)).toBe(1);
        expect(last?.total(failures, production)).toBe(0);
        expect(last?.value(unexpected, { ...production, kind: 'partial' })).toBe(
          bench.faulty.faults.hits().length,
        );
        const told = bench.logs('an answer was not as documented');
        expect(told.filter(({ level }) => level === 'warn')).toMatchObject([{ kind: 'partial' }]);
        expect(JSON.stringify(told[0])).toContain('may be incomplete');
      });
    },
  );
});
