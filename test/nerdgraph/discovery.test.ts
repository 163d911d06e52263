import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Selector } from '../../src/model/config.ts';
import type { Discovery } from '../../src/model/source.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { aNerdGraphSource, type SourceUnderTest, transportTo } from './a-nerdgraph-source.ts';

const all: Selector = { kind: 'match', pattern: /^/u };
const shop: Selector = { kind: 'name', name: 'shop' };
const cart: Selector = { kind: 'id', id: '102' };

interface Bench extends SourceUnderTest {
  readonly discover: (
    selectors: readonly Selector[],
    knownIds?: readonly string[],
  ) => Promise<Discovery>;
  /** The searches so far, without what all have in common. */
  readonly searches: () => readonly string[];
  readonly remove: (id: number) => void;
}

function aBench(faults: readonly FaultRule[] = [], options: SimulatorOptions = {}): Bench {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      ingestDelayMs: 0,
      fleet: {
        applications: [
          { id: 101, name: 'shop', kind: 'web', hosts: [{ name: 'b' }, { name: 'a' }] },
          { id: 102, name: 'cart', kind: 'web', hosts: [{ name: 'c' }] },
          { id: 103, name: 'silent', kind: 'not_reporting', hosts: 1 },
        ],
      },
      intercept: createFaults(faults, { clock }).intercept,
      ...options,
    },
    { clock },
  );
  const bench = aNerdGraphSource(transportTo(simulator), clock);
  const prefix = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";
  return {
    ...bench,
    discover: async (selectors, knownIds = []) =>
      bench.source.discover(selectors, knownIds, neverAborted),
    searches: () =>
      bench.requests
        .filter(({ body }) => body?.includes('"search"') === true)
        .map(
          ({ body }) =>
            /"search":"(.*?)","cursor/u.exec(body ?? '')?.[1]?.replace(prefix, '') ?? '',
        ),
    remove: (id) => {
      simulator.fleet.removeApplication(id);
    },
  };
}

function hostsOf({
  applications,
}: Discovery): Readonly<Record<string, readonly string[] | undefined>> {
  return Object.fromEntries(applications.map(({ id, hostIds }) => [id, hostIds]));
}

/** A search with a filter gets an error of this class. */
function failingFilter(errorClass: string, filter: string): FaultRule {
  return {
    when: { operation: 'entity_search', queryIncludes: filter },
    fault: { kind: 'graphql_error', errorClass, message: 'no such filter' },
  };
}

describe('a discovery', () => {
  it('lists the applications with their hosts', async () => {
    const bench = aBench();
    const found = await bench.discover([all]);

    expect(hostsOf(found)).toEqual({ 101: ['a', 'b'], 102: ['c'], 103: [] });
    expect(found).toMatchObject({
      complete: true,
      error: undefined,
      pendingIds: [],
      unreadableIds: [],
      calls: 2,
      hostListCalls: 1,
    });
    expect(bench.requests).toHaveLength(2);
  });

  it.each([
    {
      what: 'a name',
      selectors: [shop],
      searches: [" AND name IN ('shop')"],
      is: { 101: ['a', 'b'] },
    },
    {
      what: 'an id',
      selectors: [cart],
      searches: [" AND domainId IN ('102')"],
      is: { 102: ['c'] },
    },
    {
      what: 'both',
      selectors: [shop, cart],
      searches: [" AND domainId IN ('102')", " AND name IN ('shop')"],
      is: { 101: ['a', 'b'], 102: ['c'] },
    },
    {
      what: 'everything',
      selectors: [],
      searches: [''],
      is: { 101: ['a', 'b'], 102: ['c'], 103: [] },
    },
    {
      what: 'an id that does not exist',
      selectors: [{ kind: 'id', id: '9' }],
      searches: [" AND domainId IN ('9')"],
      is: {},
    },
  ] satisfies readonly { what: string; selectors: Selector[]; searches: string[]; is: unknown }[])(
    'searches only $what',
    async ({ selectors, searches, is }) => {
      const bench = aBench();
      const found = await bench.discover(selectors);

      expect(hostsOf(found)).toEqual(is);
      expect(found.complete).toBe(true);
      expect(bench.searches()).toEqual(searches);
    },
  );

  it('lists no hosts of applications that nobody chooses', async () => {
    const bench = aBench();
    const found = await bench.discover([{ kind: 'match', pattern: /^shop/u }]);

    expect(hostsOf(found)).toEqual({ 101: ['a', 'b'], 102: undefined, 103: [] });
    expect(bench.requests.at(-1)?.body).toContain('appId IN (101)');
  });

  it('reads all pages', async () => {
    const found = await aBench([], { graphql: { entityPageSize: 1 } }).discover([all]);

    expect(found).toMatchObject({ complete: true, calls: 4, hostListCalls: 1 });
    expect(found.applications).toHaveLength(3);
  });

  it('lists hosts of the last hour, not of the machine', async () => {
    const bench = aBench();
    await bench.discover([all]);
    const toMs = bench.clock.wallMs();

    expect(bench.requests.at(-1)?.body).toContain(`SINCE ${toMs - 3_600_000} UNTIL ${toMs}`);
  });
});

describe('a refused filter', () => {
  it.each([
    { filter: 'name IN', selectors: [shop] },
    { filter: 'domainId IN', selectors: [cart] },
  ])('of $filter is replaced by the whole list, from then on', async ({ filter, selectors }) => {
    const bench = aBench([failingFilter('INVALID_INPUT', filter)]);
    const first = await bench.discover(selectors);
    const asked = bench.searches().length;
    const second = await bench.discover(selectors, ['101', '102', '999']);

    expect(first).toMatchObject({ complete: true, error: undefined });
    expect(first.applications).toHaveLength(3);
    expect(bench.searches().slice(asked)).toEqual(['']);
    expect(second.complete).toBe(true);
    expect(bench.unexpected).toEqual(['filter_refused']);
  });

  it('of lost applications leaves the list of the account as it is', async () => {
    const bench = aBench([failingFilter('INVALID_INPUT', 'domainId IN')]);
    const first = await bench.discover([all], ['101', '999']);
    const second = await bench.discover([all], ['101', '999']);

    expect(first).toMatchObject({ complete: true, error: undefined, calls: 3 });
    expect(second).toMatchObject({ complete: true, calls: 2 });
    expect(bench.unexpected).toEqual(['filter_refused']);
  });

  it('of lost applications, after a search by name, is made up for by the next discovery', async () => {
    const bench = aBench([failingFilter('INVALID_INPUT', 'domainId IN')]);
    const first = await bench.discover([shop], ['102']);
    const second = await bench.discover([shop], ['102']);

    expect(first).toMatchObject({ complete: false, error: { status: 400 } });
    expect(second).toMatchObject({ complete: true });
    expect(second.applications.map(({ id }) => id)).toContain('102');
  });

  it('is not what any other failure is', async () => {
    const bench = aBench([failingFilter('INTERNAL_SERVER_ERROR', 'name IN')]);
    const found = await bench.discover([shop]);

    expect(found).toMatchObject({ complete: false, error: { status: 500 }, applications: [] });
    expect(bench.searches()).toHaveLength(1);
    expect(bench.unexpected).toEqual([]);
  });
});

describe('a known application', () => {
  it('that the list lacks is looked up by its id', async () => {
    const bench = aBench();
    const found = await bench.discover([shop], ['101', '102']);

    expect(bench.searches()).toEqual([" AND name IN ('shop')", " AND domainId IN ('102')"]);
    expect(found.applications.map(({ id }) => id)).toEqual(['101', '102']);
  });

  it('that is nowhere is gone', async () => {
    const bench = aBench();
    bench.remove(102);
    const found = await bench.discover([all], ['101', '102']);

    expect(bench.searches()).toEqual(['', " AND domainId IN ('102')"]);
    expect(found).toMatchObject({ complete: true });
    expect(found.applications.map(({ id }) => id)).not.toContain('102');
  });

  it('that was asked for by its id is not asked for again', async () => {
    const bench = aBench();
    await bench.discover([{ kind: 'id', id: '9' }], ['9']);

    expect(bench.searches()).toEqual([" AND domainId IN ('9')"]);
  });

  it('is not looked up if the list is incomplete', async () => {
    const bench = aBench(
      [
        {
          when: { operation: 'entity_search', calls: { first: 2 } },
          fault: { kind: 'status', status: 500 },
        },
      ],
      { graphql: { entityPageSize: 1 } },
    );
    const found = await bench.discover([all], ['999']);

    expect(bench.searches()).toHaveLength(2);
    expect(found).toMatchObject({ complete: false, error: { status: 500 } });
    expect(found.applications).toHaveLength(1);
  });
});

describe('an incomplete discovery', () => {
  it.each([
    { what: 'a page', when: { operation: 'entity_search' } },
    { what: 'the list of hosts', when: { operation: 'nrql' } },
  ] as const)('is one of which $what failed', async ({ when }) => {
    const found = await aBench([{ when, fault: { kind: 'status', status: 503 } }]).discover([all]);

    expect(found).toMatchObject({ complete: false, error: { status: 503 } });
  });

  it('does not say that an application has no hosts if they could not be read', async () => {
    const found = await aBench([
      { when: { operation: 'nrql' }, fault: { kind: 'status', status: 503 } },
    ]).discover([all]);

    expect(hostsOf(found)).toEqual({ 101: undefined, 102: undefined, 103: [] });
  });

  it('asks for no hosts after a refused key', async () => {
    const bench = aBench([{ fault: { kind: 'status', status: 401 } }]);
    const found = await bench.discover([all]);

    expect(found).toMatchObject({ complete: false, calls: 1, error: { reason: 'auth' } });
    expect(bench.requests).toHaveLength(1);
  });

  it('names what it cannot read', async () => {
    const found = await aBench([], {
      intercept: () => (answer) => ({
        ...answer,
        body: answer.body.replace('"name":"cart"', '"name":1'),
      }),
    }).discover([all]);

    expect(found).toMatchObject({ complete: true, unreadableIds: ['102'] });
    expect(found.applications.map(({ id }) => id)).toEqual(['101', '103']);
  });
});

describe('a search that finds nothing', () => {
  it('is believed if the account answers', async () => {
    const bench = aBench([], { fleet: { applications: [] } });
    const found = await bench.discover([all]);

    expect(found).toMatchObject({ complete: true, applications: [], calls: 2, hostListCalls: 0 });
  });

  it('is not believed if the key does not see the account: nothing is gone then', async () => {
    const bench = aBench([], { graphql: { accountId: 1 } });
    const found = await bench.discover([all], ['101']);

    expect(found).toMatchObject({
      complete: false,
      applications: [],
      calls: 3,
      error: { status: 403 },
    });
    expect(found.error?.message).toContain(
      'has no access to the account 1234567: check account_id',
    );
  });
});

describe('an abort', () => {
  async function abortedAt(call: number, reason: Error): Promise<Discovery> {
    const controller = new AbortController();
    let calls = 0;
    const bench = aBench([], {
      graphql: { entityPageSize: 2 },
      intercept: () => {
        calls += 1;
        if (calls < call) return 'pass';
        controller.abort(reason);
        return 'handled';
      },
    });
    return bench.source.discover([all], [], controller.signal);
  }
  const deadline = new ApiError('timeout', 'time is over');

  it('at the deadline keeps what was read', async () => {
    const inPages = await abortedAt(2, deadline);
    const inHosts = await abortedAt(3, deadline);

    expect(inPages).toMatchObject({ complete: false, error: deadline, calls: 2, hostListCalls: 0 });
    expect(inPages.applications).toHaveLength(2);
    expect(inHosts).toMatchObject({ complete: false, error: deadline, calls: 3, hostListCalls: 1 });
    expect(inHosts.applications).toHaveLength(3);
  });

  it.each([1, 2, 3])('for any other reason rejects, in call %i', async (call) => {
    const stopped = new Error('stopped');

    await expect(abortedAt(call, stopped)).rejects.toBe(stopped);
  });
});
