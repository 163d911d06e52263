import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { type BadAnswer, expectValuesHeld, fewBadAnswers } from './bad-answers.ts';
import { type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import { sources } from './sources.ts';

const shop = { account: 'production', app_id: '101' };
const success = 'newrelic_application_poll_success';

/** From the third minute to the end of the seventh. */
const badTime = { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs } as const;
const forbidden: BadAnswer = {
  what: '403',
  fault: { kind: 'status', status: 403 },
  reason: 'auth',
  isRetried: false,
};

describe.each(sources)('$name', (source) => {
  const apart = { source: source.account, entries: source.apart };
  const pollsOfShop = { ...source.pollsOf('101'), ...badTime };

  describe('5.1 11.2 an application whose answers are bad for five minutes', () => {
    eachAfter(2, [...fewBadAnswers(source.account), forbidden])(
      'keeps its last good values, disturbs no other and recovers: $what',

      async (row) => {
        await expect(expectValuesHeld(source, row)).resolves.toBeUndefined();
      },
    );

    it(
      'loses its values when they have been held for stale_after, and gets them back',
      slow,
      async () => {
        const rule = {
          when: { ...pollsOfShop, untilMs: 20 * minuteMs },
          fault: { kind: 'status', status: 503 },
        } as const;
        await withTimedFaults({ ...apart, script: [rule] }, async (bench) => {
          const counts: number[] = [];
          for (let minute = 0; minute < 23; minute += 1) {
            await bench.advance(minuteMs);
            counts.push(Object.keys(publishedOf(await bench.scrape(), shop)).length);
          }

          const firstFailure = Date.parse(String(bench.logs('poll failed')[0]?.['time']));
          const heldMinutes =
            counts.indexOf(0) - (firstFailure - Date.UTC(2026, 8, 1, 10, 0, 30)) / minuteMs;
          // Counted from the start of the poll, some retries before its failure.
          expect(heldMinutes).toBeGreaterThan(13.9);
          expect(heldMinutes).toBeLessThanOrEqual(15);
          expect(counts.slice(0, counts.indexOf(0)).every((count) => count === 7)).toBe(true);
          expect(counts.slice(counts.indexOf(0), 19).every((count) => count === 0)).toBe(true);
          expect(counts.at(-1)).toBe(7);
          for (const message of ['values dropped', 'values are back']) {
            expect(bench.logs(message)).toMatchObject([{ app_id: '101' }]);
          }
          expect((await bench.scrape()).value(success, shop)).toBe(1);
        });
      },
    );
  });

  describe('a vendor that fails every now and then', () => {
    it.each([
      { what: '503', fault: { kind: 'status', status: 503 } },
      { what: 'silence', fault: { kind: 'silence' } },
    ] as const)(
      'is asked again within the poll, which succeeds: every other $what',
      async ({ fault }) => {
        const when = { ...source.onePart, calls: { every: 2, last: 11 } };
        await withTimedFaults({ ...apart, script: [{ when, fault }] }, async (bench) => {
          await bench.advance(9.9 * minuteMs);
          const page = await bench.scrape();

          const hits = bench.faulty.faults.hits().length;
          expect(hits).toBeGreaterThanOrEqual(5);
          expect(page.total('newrelic_exporter_api_request_retries_total')).toBe(hits);
          expect(page.total('newrelic_exporter_polls_failed_total')).toBe(0);
          expect(bench.logs('poll failed')).toEqual([]);
        });
      },
    );

    it('does not make series come and go when every other poll fails', async () => {
      const fault = { kind: 'status', status: 500 } as const;
      const script = [2, 4, 6, 8].map((minute) => ({
        when: { ...pollsOfShop, fromMs: minute * minuteMs, untilMs: (minute + 1) * minuteMs },
        fault,
      }));
      await withTimedFaults({ ...apart, script }, async (bench) => {
        await bench.advance(10 * minuteMs);

        const ofShop = bench.published.filter(
          ({ account, application }) => account === 'production' && application.id === '101',
        );
        const readings = ofShop.slice(ofShop.findIndex(({ reading }) => reading !== undefined));
        expect(readings.length).toBeGreaterThan(15);
        expect(readings.map(({ reading }) => reading?.hosts.size)).toEqual(readings.map(() => 2));
        // Less than three a minute are all written.
        expect(bench.logs('poll failed')).toHaveLength(4);
        expect(bench.logs('poll works again')).toHaveLength(4);
      });
    });
  });
});

describe('a 503 that says when to come again', () => {
  it.each([
    { says: 'nothing', retryAfter: {}, againSeconds: [0, 1] },
    { says: 'in a second', retryAfter: { 'retry-after': '1' }, againSeconds: [1, 1] },
    { says: 'in half a minute', retryAfter: { 'retry-after': '30' }, againSeconds: [30, 60] },
  ])('has its call made again no sooner, by the next poll at the latest: $says', async (row) => {
    const asked: { readonly target: string; readonly atMs: number }[] = [];
    const options: VendorOptions = {
      network: (wire, clock) => ({
        ...wire,
        send: async (request, headers, signal) => {
          const isMeant =
            request.operation === 'host_metrics' && clock.monotonicMs() > 2 * minuteMs;
          if (!isMeant) return wire.send(request, headers, signal);
          const { pathname: target } = new URL(request.target, 'http://localhost');
          asked.push({ target, atMs: clock.monotonicMs() });
          if (asked.length > 1) return wire.send(request, headers, signal);
          return { status: 503, headers: row.retryAfter, body: '' };
        },
      }),
    };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(4 * minuteMs);

      const [refused, ...later] = asked;
      const again = later.find(({ target }) => target === refused?.target);
      const seconds = ((again?.atMs ?? Number.NaN) - (refused?.atMs ?? 0)) / 1000;
      const [least = 0, most = 0] = row.againSeconds;
      expect(seconds).toBeGreaterThanOrEqual(least);
      expect(seconds).toBeLessThanOrEqual(most);
      expect(freshness(await bench.scrape(), bench.clock)).toContain('production 101');
    });
  });
});

describe('5.1 11.2 a part of an application of the REST API that fails for five minutes', () => {
  it.each([
    { what: 'one host', when: { ...badTime, hostId: '1011' } },
    {
      what: 'the application itself',
      when: { ...badTime, applicationId: '101', endpoints: ['application_metrics'] as const },
    },
  ])(
    'is held alone, with the window that it is of, until it is there again: $what',
    async (row) => {
      const rule = { when: row.when, fault: { kind: 'html' } } as const;
      await withTimedFaults({ script: [rule] }, async (bench) => {
        await bench.advance(1.9 * minuteMs);
        const before = await bench.scrape();
        await bench.advance(minuteMs);
        const first = await bench.scrape();
        await bench.advance(minuteMs);
        const second = await bench.scrape();
        await bench.advance(6 * minuteMs);
        const after = await bench.scrape();

        const windowEnd = 'newrelic_application_window_end_timestamp_seconds';
        for (const page of [first, second]) {
          expect(page.value(success, shop)).toBe(0);
          expect(Object.keys(publishedOf(page, shop))).toHaveLength(7);
          expect(page.value(windowEnd, shop)).toBe(before.value(windowEnd, shop));
          expect(publishedOf(page, shop)).not.toEqual(publishedOf(before, shop));
        }
        expect(after.value(windowEnd, shop)).toBeGreaterThan(before.value(windowEnd, shop) ?? 0);
        expect(Object.keys(publishedOf(after, shop))).toHaveLength(7);
        expect(after.value(success, shop)).toBe(1);
        expect(bench.logs('poll failed')).toHaveLength(1);
      });
    },
  );
});
