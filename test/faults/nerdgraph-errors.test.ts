import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/api-error.ts';
import { anyRegion } from '../../src/model/region.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { aMetric, anEntry } from '../support/builders.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import { byNerdGraph } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const neighbours = everyone.slice(0, 2);
const production = { account: 'production' };
const shop = { ...production, app_id: '101' };
const success = 'newrelic_application_poll_success';
const source = byNerdGraph.account;

interface Row {
  readonly what: string;
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** What to do, as the log and the status page say it. */
  readonly remedy: string;
}

function error(errorClass: string, message: string, classification?: string): Fault {
  return { kind: 'graphql_error', errorClass, message, classification };
}

const key = `must be a user key (NRAK-…) of an active user, and the region (${anyRegion})`;
const access = 'has no access to the account 1234567: check account_id';
const again = 'may pass by itself';
const smaller = 'it is asked in smaller parts';

/** The first is what New Relic says; the others are the classes of its errors. */
const rows: readonly Row[] = [
  {
    what: 'the key of a user who may not see the account',
    fault: error('SERVER_ERROR', 'You are not authorized to query it', 'DataFetchingException'),
    reason: 'auth',
    remedy: access,
  },
  { what: 'access denied', fault: error('ACCESS_DENIED', 'no'), reason: 'auth', remedy: access },
  { what: 'a bad key', fault: error('BAD_API_KEY', 'no'), reason: 'auth', remedy: key },
  {
    what: 'the key of another region, a 401',
    fault: { kind: 'status', status: 401, body: '{"errors":[{"message":"bad key"}]}' },
    reason: 'auth',
    remedy: key,
  },
  {
    what: 'the key of another region, a 200',
    fault: error('', 'not authorized for account region'),
    reason: 'auth',
    remedy: 'The account is in another region of New Relic: set "region"',
  },
  {
    what: 'the key of another region, with the class of a fault',
    fault: error('SERVER_ERROR', 'not authorized for account region'),
    reason: 'auth',
    remedy: 'The account is in another region of New Relic: set "region"',
  },
  { what: 'SERVER_ERROR', fault: error('SERVER_ERROR', 'oh'), reason: 'server', remedy: again },
  {
    what: 'INTERNAL_SERVER_ERROR',
    fault: error('INTERNAL_SERVER_ERROR', 'oh'),
    reason: 'server',
    remedy: again,
  },
  { what: 'an unknown class', fault: error('OH_NO', 'oh'), reason: 'server', remedy: again },
  {
    what: 'INVALID_INPUT',
    fault: error('INVALID_INPUT', 'NRQL Syntax Error'),
    reason: 'client',
    remedy: 'report it as a fault of the exporter',
  },
  { what: 'TIMEOUT', fault: error('TIMEOUT', 'slow'), reason: 'too_large', remedy: smaller },
  {
    what: 'a query that is too big',
    fault: error('', "We're sorry, but that query is a little too big."),
    reason: 'too_large',
    remedy: smaller,
  },
];

describe('an error in a 200 of NerdGraph', () => {
  it.each(rows)(
    'to everything holds the values, says what to do and disturbs nobody else: $what',
    async ({ fault, reason, remedy }) => {
      const when = { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs };
      await withTimedFaults({ source, script: [{ when, fault }] }, async (bench) => {
        await bench.advance(1.9 * minuteMs);
        const before = await bench.scrape();
        await bench.advance(5 * minuteMs);
        const during = await bench.scrape();
        const duringFresh = freshness(during, bench.clock);
        const [status] = bench.daemon.status();
        await bench.advance(3 * minuteMs);
        const after = await bench.scrape();

        expect(bench.faulty.faults.hits().length).toBeGreaterThanOrEqual(5);
        expect(during.value('newrelic_up', production)).toBe(0);
        expect(during.value(success, shop)).toBe(0);
        expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
        expect(duringFresh).toEqual(neighbours);
        expect(bench.logs('discovery failed')).toMatchObject([
          { ...production, error: { reason } },
        ]);
        expect(bench.logs('discovery failed')[0]?.error?.message).toContain(remedy);
        expect(status?.error).toContain(remedy);
        expect(freshness(after, bench.clock)).toEqual(everyone);
      });
    },
  );

  it('to one of the queries of a poll keeps the others, and holds what it had brought', async () => {
    // The query for the applications themselves; those for their hosts are answered.
    const when = {
      queryIncludes: 'FACET appId LIMIT',
      fromMs: 2 * minuteMs,
      untilMs: 7 * minuteMs,
    };
    const script = [{ when, fault: error('INVALID_INPUT', 'no') }];
    await withTimedFaults({ source, script }, async (bench) => {
      await bench.advance(6.9 * minuteMs);
      const during = await bench.scrape();
      await bench.advance(3 * minuteMs);
      const after = await bench.scrape();

      const hosts = 'newrelic_application_host_requests_per_minute';
      const own = during.series('newrelic_application_requests_per_minute', production);
      expect(own).toHaveLength(3);
      expect(during.series(hosts, production)).toHaveLength(5);
      expect(during.value(success, shop)).toBe(0);
      expect(during.value('newrelic_up', production)).toBe(1);
      expect(after.series('newrelic_application_requests_per_minute', production)).toHaveLength(3);
      expect(freshness(after, bench.clock)).toEqual(everyone);
    });
  });

  it('to the queries for hosts fails the polls also before any host is known, and the rest is shown', async () => {
    const when = { queryIncludes: 'FACET appId, host LIMIT', untilMs: 3 * minuteMs };
    const script = [{ when, fault: error('INVALID_INPUT', 'no') }];
    await withTimedFaults({ source, script }, async (bench) => {
      await bench.advance(2.5 * minuteMs);
      const during = await bench.scrape();
      await bench.advance(3 * minuteMs);
      const after = await bench.scrape();

      expect(during.series('newrelic_application_requests_per_minute', shop)).not.toEqual([]);
      expect(during.value(success, shop)).toBe(0);
      expect(after.value(success, shop)).toBe(1);
    });
  });

  it('that says too many requests makes the account wait as a 429 does, and no other', async () => {
    const rule = {
      when: { operation: 'nrql', fromMs: 2 * minuteMs, calls: { last: 1 } },
      fault: error('TOO_MANY_REQUESTS', 'slow down'),
    } as const;
    await withTimedFaults({ source, script: [rule] }, async (bench) => {
      await bench.advance(6 * minuteMs);
      const page = await bench.scrape();

      const [hit] = bench.faulty.faults.hits();
      const hitMs = hit?.request.monotonicMs ?? Number.NaN;
      const isAfter = ({ monotonicMs }: { readonly monotonicMs: number }): boolean =>
        monotonicMs > hitMs;
      const next = bench.faulty.simulator.journal.entries(isAfter)[0];
      const others = bench.vendors[1]?.simulator.journal.entries(isAfter)[0];
      expect(bench.faulty.faults.hits()).toHaveLength(1);
      expect((next?.monotonicMs ?? 0) - hitMs).toBeGreaterThanOrEqual(minuteMs);
      expect((others?.monotonicMs ?? Infinity) - hitMs).toBeLessThanOrEqual(minuteMs);
      expect(page.value('newrelic_exporter_api_throttled_total', production)).toBe(1);
      expect(freshness(page, bench.clock)).toEqual(everyone);
    });
  });

  it('is only counted when the data are beside it: a field that will go some day', async () => {
    await withTimedFaults({ source, script: [{ fault: { kind: 'warning' } }] }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits().length).toBeGreaterThan(6);
      expect(page.total('newrelic_exporter_api_request_failures_total')).toBe(0);
      expect(freshness(page, bench.clock)).toEqual(everyone);
    });
  });
});

describe('5.1 a query about several applications', () => {
  it('that fails once is made again at once, although one of them failed in its last poll', async () => {
    const failing = (asked: string, calls?: { readonly last: number }): FaultRule => ({
      when: { operation: 'nrql', queryIncludes: asked, calls },
      fault: { kind: 'status', status: 503 },
    });
    const alone = failing('appId IN (102)');
    const together = failing('appId IN (101,102)', { last: 1 });
    const entries = [{ selector: { kind: 'id', id: '101' } }] as const;
    await withTimedFaults({ source, script: [alone, together], entries }, async (bench) => {
      await bench.advance(2.1 * minuteMs);
      const [entry = anEntry(), ...others] = bench.config.apps;
      // The newcomer is polled alone at first, and fails.
      const apps = [{ ...entry, selector: anEntry().selector }, ...others];
      await bench.daemon.apply({ ...bench.config, apps });
      const hits = (): number => bench.faulty.faults.hits(together).length;
      for (let second = 0; second < 120 && hits() === 0; second += 1) await bench.advance(1000);
      await bench.advance(5000);
      const page = await bench.scrape();

      expect(bench.faulty.faults.hits(alone).length).toBeGreaterThan(0);
      expect(hits()).toBe(1);
      expect(bench.logs('poll failed')).toMatchObject([{ app_id: '102' }]);
      expect(freshness(page, bench.clock)).toEqual(everyone);
    });
  });
});

describe('a key that is refused for a query about applications', () => {
  it('is not sent with the rest of the queries of the poll', async () => {
    const metrics = Array.from({ length: 40 }, (_, at) =>
      aMetric(`Custom/${at}${'x'.repeat(180)}`, { as: `x_${at}` }),
    );
    const rule: FaultRule = {
      when: { operation: 'nrql', fromMs: 3 * minuteMs },
      fault: { kind: 'status', status: 401 },
    };
    await withTimedFaults(
      { source, script: [rule], entries: [{ poll: { metrics } }] },
      async (bench) => {
        await bench.advance(4 * minuteMs);

        const [hit] = bench.faulty.faults.hits(rule);
        const endMs = (hit?.request.monotonicMs ?? Number.NaN) + 30_000;
        const calls = (fromMs: number, untilMs: number): number =>
          bench.faulty.simulator.journal.count(
            ({ monotonicMs, graphql }) =>
              monotonicMs >= fromMs &&
              monotonicMs < untilMs &&
              graphql?.asks[0]?.operation === 'nrql',
          );
        expect(calls(minuteMs, 3 * minuteMs)).toBeGreaterThanOrEqual(2 * 6);
        // As many as go at the same time at first.
        expect(calls(3 * minuteMs, endMs)).toBe(2);
      },
    );
  });
});

describe('a key that NerdGraph refuses under 200', () => {
  it('is read again, and polls go on with the new one', async () => {
    let text = 'NRAK-OLDSECRET';
    const simulator = { apiKeys: ['NRAK-NEWSECRET'], graphql: { badKey: 'in_errors' } } as const;
    await withTimedFaults({ source, simulator, keyFile: () => text }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const during = await bench.scrape();
      const duringFresh = freshness(during, bench.clock);
      text = 'NRAK-NEWSECRET';
      await bench.advance(2 * minuteMs);
      const after = await bench.scrape();

      expect(during.value('newrelic_up', production)).toBe(0);
      expect(duringFresh).toEqual(neighbours);
      expect(bench.logs('discovery failed')).toMatchObject([{ error: { reason: 'auth' } }]);
      expect(bench.logs('discovery failed')[0]?.error?.message).toContain(key);
      expect(bench.logs('API key changed')).toHaveLength(1);
      expect(freshness(after, bench.clock)).toEqual(everyone);
    });
  });
});

describe('an account_id of another account', () => {
  it('is named in the log and on the status page, with what to check', async () => {
    const simulator = { graphql: { accountId: 7_654_321 } };
    await withTimedFaults({ source, simulator }, async (bench) => {
      await bench.advance(5 * minuteMs);
      const page = await bench.scrape();

      expect(page.value('newrelic_up', production)).toBe(0);
      expect(page.series('newrelic_application_info', production)).toEqual([]);
      expect(bench.logs('discovery failed')).toHaveLength(1);
      expect(bench.logs('discovery failed')[0]?.error?.message).toContain(access);
      expect(bench.daemon.status()[0]?.error).toContain(access);
      expect(freshness(page, bench.clock)).toEqual(neighbours);
    });
  });
});
