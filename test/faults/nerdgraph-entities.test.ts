import { describe, expect, it } from 'vitest';
import type { Selector } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { anEntity } from '../newrelic/nerdgraph/answers.ts';
import { type FaultBench, manyApplications, withTimedFaults } from './fault-bench.ts';
import { byNerdGraph } from './sources.ts';

const production = { account: 'production' };
const info = 'newrelic_application_info';
const unexpected = 'newrelic_exporter_unexpected_answers_total';
const source = byNerdGraph.account;

/** Seven applications, 1000 to 1006, on two pages. */
const simulator = {
  fleet: { applications: manyApplications(7, 1) },
  graphql: { entityPageSize: 4 },
};

const failures = 'newrelic_exporter_api_request_failures_total';

/** One page for every list from the third minute to the end of the seventh. */
function badPage(search: unknown, errors?: readonly unknown[]): FaultRule {
  const body = JSON.stringify({ data: { actor: { entitySearch: search } }, errors });
  const when = { ...byNerdGraph.lists, fromMs: 2 * minuteMs, untilMs: 7 * minuteMs };
  return { when, fault: { kind: 'document', body } };
}

/** What New Relic answers to a query about no application, in an account that the key does not see. */
const emptyAccount: FaultRule = {
  when: { operation: 'nrql', queryIncludes: 'appId IN (0)' },
  fault: { kind: 'document', body: '{"data":{"actor":{"account":null}}}' },
};

const timeout = { message: 'took too long', extensions: { errorClass: 'TIMEOUT' } };
const entities = [anEntity(1000), anEntity(1001)];

function searchesOf({ faulty }: FaultBench, filter: string): number {
  return faulty.simulator.journal
    .entries()
    .filter(({ graphql }) => graphql?.asks.some(({ text }) => text.includes(filter)) === true)
    .length;
}

describe('11.1 a list of NerdGraph under 200 that is not whole', () => {
  it.each([
    {
      what: 'is short of what New Relic counts',
      page: badPage({ count: 7, results: { entities, nextCursor: null } }),
      says: 'the answer lists 2 of 7.',
    },
    {
      what: 'has an error beside it',
      page: badPage({ count: 7, results: { entities, nextCursor: null } }, [timeout]),
      reason: 'too_large',
      says: 'status 413',
    },
    {
      what: 'does not say how many there are',
      page: badPage({ count: null, results: { entities, nextCursor: null } }),
      says: 'the answer does not say how many entities there are.',
    },
    {
      what: 'has an element that nobody can tell',
      page: badPage({
        count: 3,
        results: { entities: [...entities, anEntity(1002, { applicationId: 'x' })] },
      }),
      says: 'parts of the list were left out (1)',
    },
    {
      what: 'has always one more page of the same',
      page: badPage({ count: 7, results: { entities, nextCursor: 'more' } }),
      says: 'the list of 7 does not end after page 2.',
    },
    {
      what: 'is empty because the key no longer sees the account',
      page: badPage({ count: 0, results: { entities: [], nextCursor: null } }),
      unseen: true,
      reason: 'auth',
      says: 'has no access to the account 1234567: check account_id',
    },
  ])('removes nothing, and says so: $what', async ({ page, unseen, reason = 'schema', says }) => {
    const script = unseen === true ? [page, emptyAccount] : [page];
    await withTimedFaults({ source, simulator, script }, async (bench) => {
      await bench.advance(minuteMs);
      const before = await bench.scrape();
      await bench.advance(5.9 * minuteMs);
      const during = await bench.scrape();
      await bench.advance(2 * minuteMs);
      const after = await bench.scrape();

      expect(during.value('newrelic_up', production)).toBe(0);
      expect(during.series(info, production)).toHaveLength(7);
      // All of them began at 0.
      expect(during.series(failures, production)).toEqual(before.series(failures, production));
      expect(bench.faulty.faults.hits().length).toBeLessThan(20);
      expect(bench.logs('discovery failed')).toMatchObject([
        { error: { reason, message: expect.stringContaining(says) } },
      ]);
      expect(after.value('newrelic_up', production)).toBe(1);
      expect(after.series(info, production)).toHaveLength(7);
    });
  });
});

describe('a list of NerdGraph', () => {
  it('brings no application of another account, and names that once', async () => {
    const page = badPage({
      count: 3,
      results: { entities: [...entities, anEntity(9, { accountId: 999 })], nextCursor: null },
    });
    await withTimedFaults(
      { source, simulator, script: [{ ...page, when: byNerdGraph.lists }] },
      async (bench) => {
        await bench.advance(4 * minuteMs);
        const scraped = await bench.scrape();

        const ids = scraped.series(info, production).map(({ app_id: id }) => id);
        expect(new Set(ids)).toEqual(new Set(['1000', '1001']));
        expect(scraped.value('newrelic_up', production)).toBe(1);
        expect(
          scraped.value(unexpected, { ...production, kind: 'foreign_entity' }),
        ).toBeGreaterThan(1);
        const told = bench.logs('an answer was not as documented');
        expect(told.filter(({ level }) => level === 'warn')).toMatchObject([
          { kind: 'foreign_entity', account_id: '999' },
        ]);
      },
    );
  });

  it.each<{ filter: string; selector: Selector }>([
    { filter: 'domainId IN', selector: { kind: 'id', id: '1000' } },
    { filter: 'name IN', selector: { kind: 'name', name: 'application 0' } },
  ])('is read whole where New Relic refuses to search with $filter', async (one) => {
    const { filter, selector } = one;
    const when = { ...byNerdGraph.lists, queryIncludes: filter };
    const fault = { kind: 'graphql_error', errorClass: 'INVALID_INPUT', message: 'no' } as const;
    const entries = [{ selector }];
    const faults = { source, simulator, script: [{ when, fault }], entries };
    await withTimedFaults(faults, async (bench) => {
      await bench.advance(5 * minuteMs);
      const scraped = await bench.scrape();

      expect(scraped.series(info, production)).toHaveLength(1);
      expect(scraped.value('newrelic_up', production)).toBe(1);
      expect(scraped.total('newrelic_exporter_app_missing', production)).toBe(0);
      const refused = { ...production, operation: 'list_applications', code: '400' };
      expect(scraped.value('newrelic_exporter_api_requests_total', refused)).toBe(
        searchesOf(bench, filter),
      );
    });
  });

  it('is not read for what a search leaves out: it is missing, or gone by the next one', async () => {
    const entries = [
      { selector: { kind: 'id', id: '9' } },
      { selector: { kind: 'name', name: 'application 0' } },
      { selector: { kind: 'id', id: '1001' } },
    ] as const;
    await withTimedFaults({ source, simulator, entries }, async (bench) => {
      await bench.advance(5 * minuteMs);
      const before = await bench.scrape();
      bench.faulty.simulator.fleet.renameApplication(1000, 'another');
      await bench.advance(1.1 * minuteMs);
      const after = await bench.scrape();

      expect(before.series(info, production)).toHaveLength(2);
      expect(before.total('newrelic_exporter_app_missing', production)).toBe(1);
      const ids = after.series(info, production).map(({ app_id: id }) => id);
      expect(ids).toEqual(['1001']);
      const missing = after.series('newrelic_exporter_app_missing', production);
      expect(missing.map(({ selector }) => selector)).toEqual(['id=9', 'name=application 0']);
      expect(after.value('newrelic_up', production)).toBe(1);
      const filters = ['domainId IN', ' name IN'].map((filter) => searchesOf(bench, filter));
      expect(searchesOf(bench, 'accountId')).toBe(2 * (filters[0] ?? 0));
      expect(filters[0]).toBe(filters[1]);
    });
  });
});
