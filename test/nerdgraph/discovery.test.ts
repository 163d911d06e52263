import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Selector } from '../../src/model/config.ts';
import type { Discovery } from '../../src/model/source.ts';
import { createDiscover } from '../../src/nerdgraph/discovery.ts';
import { createGraphqlClient } from '../../src/nerdgraph/graphql-client.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import type { ApiRequest } from '../../src/transport/transport.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { transportTo } from './a-nerdgraph-source.ts';
import { accountId, anEntity, pageAnswer } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const all: Selector = { kind: 'match', pattern: /^/u };
const shop: Selector = { kind: 'name', name: 'shop' };
const cart: Selector = { kind: 'id', id: '102' };

interface Bench {
  readonly clock: FakeClock;
  readonly requests: readonly ApiRequest[];
  /** Kinds of unexpected, each as often as it was seen. */
  readonly unexpected: () => readonly string[];
  readonly discover: (
    selectors: readonly Selector[],
    knownIds?: readonly string[],
    signal?: AbortSignal,
  ) => Promise<Discovery>;
  /** The searches so far, without what all have in common. */
  readonly searches: () => readonly string[];
  readonly remove: (id: number) => void;
}

const polledHosts: ReadonlyMap<string, readonly string[]> = new Map([
  ['101', ['a', 'b']],
  ['103', ['gone']],
]);

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
  const requests: ApiRequest[] = [];
  const unexpected = createRecordingUnexpectedAnswers();
  const send = transportTo(simulator);
  const client = createGraphqlClient(
    { accountId, timeoutMs: () => 30_000 },
    {
      send: async (request, signal) => {
        requests.push(request);
        return send(request, signal);
      },
      observer: { failed: () => undefined, invalidSample: () => undefined },
      unexpected,
    },
  );
  const discover = createDiscover(
    { accountId },
    {
      client,
      unexpected,
      clock,
      wallMs: () => clock.wallMs(),
      hostsOf: (id) => polledHosts.get(id),
    },
  );
  const prefix = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";
  return {
    clock,
    requests,
    unexpected: unexpected.kinds,
    discover: async (selectors, knownIds = [], signal = neverAborted) =>
      discover({ selectors, knownIds, signal }),
    searches: () =>
      requests
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

function idsOf({ applications }: Discovery): readonly string[] {
  return applications.map(({ id }) => id);
}

/** A search with a filter finds nothing, without an error. */
function blindFilter(filter: string, when: FaultRule['when'] = {}): FaultRule {
  const { body } = pageAnswer([]);
  return {
    when: { operation: 'entity_search', queryIncludes: filter, ...when },
    fault: { kind: 'document', body },
  };
}

/** A search with a filter gets an error of this class. */
function failingFilter(errorClass: string, filter: string): FaultRule {
  return {
    when: { operation: 'entity_search', queryIncludes: filter },
    fault: { kind: 'graphql_error', errorClass, message: 'no such filter' },
  };
}

describe('a discovery', () => {
  it('lists the applications, with the hosts that polls have seen', async () => {
    const bench = aBench();
    const found = await bench.discover([all]);

    expect(found.applications).toMatchObject([
      { id: '102', hostIds: undefined, hostCount: 1 },
      { id: '101', hostIds: ['a', 'b'], hostCount: 2 },
      { id: '103', hostIds: [], hostCount: undefined },
    ]);
    expect(found).toMatchObject({
      complete: true,
      error: undefined,
      pendingIds: [],
      unreadableIds: [],
      calls: 1,
    });
    expect(bench.requests).toHaveLength(1);
  });

  it.each([
    {
      what: 'a name',
      selectors: [shop],
      searches: [" AND name IN ('shop')"],
      is: ['101'],
    },
    {
      what: 'an id',
      selectors: [cart],
      searches: [" AND domainId IN ('102')"],
      is: ['102'],
    },
    {
      what: 'both',
      selectors: [shop, cart],
      searches: [" AND domainId IN ('102')", " AND name IN ('shop')"],
      is: ['102', '101'],
    },
    {
      what: 'everything',
      selectors: [],
      searches: [''],
      is: ['102', '101', '103'],
    },
  ] satisfies readonly { what: string; selectors: Selector[]; searches: string[]; is: string[] }[])(
    'searches only $what',
    async ({ selectors, searches, is }) => {
      const bench = aBench();
      const found = await bench.discover(selectors);

      expect(idsOf(found)).toEqual(is);
      expect(found.complete).toBe(true);
      expect(bench.searches()).toEqual(searches);
    },
  );

  it('reads all pages', async () => {
    const found = await aBench([], { graphql: { entityPageSize: 1 } }).discover([all]);

    expect(found).toMatchObject({ complete: true, calls: 3 });
    expect(found.applications).toHaveLength(3);
  });

  it('leaves out entities of other accounts', async () => {
    const bench = aBench([
      {
        fault: {
          kind: 'document',
          body: pageAnswer([anEntity(1), anEntity(2, { accountId: 999 })]).body,
        },
      },
    ]);
    const found = await bench.discover([all]);

    expect(idsOf(found)).toEqual(['1']);
    expect(found.complete).toBe(true);
    expect(bench.unexpected()).toEqual(['foreign_entity']);
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
    expect(bench.unexpected()).toEqual(['filter_refused']);
  });

  it('of lost applications leaves the list of the account as it is', async () => {
    const bench = aBench([failingFilter('INVALID_INPUT', 'domainId IN')]);
    const first = await bench.discover([all], ['101', '999']);
    const second = await bench.discover([all], ['101', '999']);

    expect(first).toMatchObject({ complete: true, error: undefined, calls: 3 });
    expect(second).toMatchObject({ complete: true, calls: 1 });
    expect(bench.unexpected()).toEqual(['filter_refused']);
  });

  it('of lost applications, after a search by name, is made up for by the whole list', async () => {
    const bench = aBench([failingFilter('INVALID_INPUT', 'domainId IN')]);
    const found = await bench.discover([shop], ['102']);

    expect(found).toMatchObject({ complete: true, error: undefined, calls: 3 });
    expect(idsOf(found)).toContain('102');
  });

  it('is not what any other failure is', async () => {
    const bench = aBench([failingFilter('INTERNAL_SERVER_ERROR', 'name IN')]);
    const found = await bench.discover([shop]);

    expect(found).toMatchObject({ complete: false, error: { status: 500 }, applications: [] });
    expect(bench.searches()).toHaveLength(1);
    expect(bench.unexpected()).toEqual([]);
  });
});

describe('what a filtered search leaves out', () => {
  const name: Selector = { kind: 'name', name: 'nowhere' };
  const id: Selector = { kind: 'id', id: '9' };

  it.each([
    { filter: 'domainId IN', selectors: [cart] },
    { filter: 'name IN', selectors: [shop] },
    { filter: 'name IN', selectors: [cart, shop] },
  ])(
    'is found in the whole list, which is read from then on: $filter',
    async ({ filter, selectors }) => {
      const bench = aBench([blindFilter(filter)]);
      const first = await bench.discover(selectors);
      const asked = bench.searches().length;
      const second = await bench.discover(selectors);

      expect(first).toMatchObject({ complete: true, calls: selectors.length + 1 });
      expect(idsOf(first).toSorted()).toEqual(['101', '102', '103']);
      expect(bench.unexpected()).toEqual(['filter_refused']);
      expect(bench.searches().slice(asked)).toEqual(['']);
      expect(idsOf(second)).toHaveLength(3);
    },
  );

  it.each([{ missing: name }, { missing: id }])(
    'is missing if the whole list lacks it, which is read once an hour: $missing.kind',
    async ({ missing }) => {
      const bench = aBench();
      const wholeLists = (): number => bench.searches().filter((text) => text === '').length;

      expect(await bench.discover([missing, shop])).toMatchObject({ complete: true });
      await bench.clock.advance(3_599_999);
      expect(await bench.discover([missing, shop])).toMatchObject({ complete: true });
      expect(wholeLists()).toBe(1);
      await bench.clock.advance(1);
      await bench.discover([missing, shop]);
      await bench.discover([missing, shop]);
      expect(wholeLists()).toBe(2);
      expect(bench.unexpected()).toEqual([]);
    },
  );

  it('is looked for at once if it is another than before', async () => {
    const bench = aBench();
    await bench.discover([name]);
    await bench.discover([name, id]);
    await bench.discover([name, id]);

    expect(bench.searches().filter((text) => text === '')).toHaveLength(2);
  });

  it('is looked for at once if it was found meanwhile', async () => {
    const bench = aBench([
      blindFilter('domainId IN', { fromMs: 2000 }),
      blindFilter('accountId', { untilMs: 1000 }),
    ]);
    const missing = await bench.discover([cart, shop]);
    await bench.clock.advance(1000);
    const found = await bench.discover([cart, shop]);
    await bench.clock.advance(1000);
    const overlooked = await bench.discover([cart, shop]);

    expect(idsOf(missing)).toEqual([]);
    expect(idsOf(found)).toEqual(['102', '101']);
    expect(idsOf(overlooked)).toContain('102');
    expect(bench.unexpected()).toEqual(['filter_refused']);
  });

  it('is not missing while the whole list cannot be read', async () => {
    const bench = aBench([
      { when: { calls: { first: 2, last: 2 } }, fault: { kind: 'status', status: 503 } },
    ]);
    const first = await bench.discover([name]);
    const second = await bench.discover([name]);

    expect(first).toMatchObject({ complete: false, error: { status: 503 }, calls: 2 });
    expect(second).toMatchObject({ complete: true, calls: 2 });
  });

  it('may be an application that cannot be read', async () => {
    const bench = aBench([], {
      intercept: () => (answer) => ({
        ...answer,
        body: answer.body.replace('"name":"cart"', '"name":1'),
      }),
    });
    const found = await bench.discover([cart]);

    expect(found).toMatchObject({ complete: true, unreadableIds: ['102'], calls: 1 });
  });
});

describe('a known application', () => {
  it('that the list lacks is looked up by its id', async () => {
    const bench = aBench();
    const found = await bench.discover([shop], ['101', '102']);

    expect(bench.searches()).toEqual([" AND name IN ('shop')", " AND domainId IN ('102')"]);
    expect(idsOf(found)).toEqual(['101', '102']);
  });

  it('that is nowhere is gone', async () => {
    const bench = aBench();
    bench.remove(102);
    const found = await bench.discover([all], ['101', '102']);

    expect(bench.searches()).toEqual(['', " AND domainId IN ('102')"]);
    expect(found).toMatchObject({ complete: true });
    expect(idsOf(found)).not.toContain('102');
  });

  it('that was asked for by its id is not asked for so again', async () => {
    const bench = aBench();
    await bench.discover([{ kind: 'id', id: '9' }], ['9']);

    expect(bench.searches()).toEqual([" AND domainId IN ('9')", '']);
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
  it('is one of which a page failed', async () => {
    const found = await aBench([{ fault: { kind: 'status', status: 503 } }]).discover([all]);

    expect(found).toMatchObject({ complete: false, error: { status: 503 } });
  });

  it('is one that lists fewer than New Relic counts', async () => {
    const body = pageAnswer([anEntity(101)]).body.replace('"count":1', '"count":3');
    const bench = aBench([{ fault: { kind: 'document', body } }]);
    const found = await bench.discover([all], ['101', '102']);

    expect(found).toMatchObject({ complete: false, error: { reason: 'schema' }, calls: 1 });
    expect(found.error?.message).toContain('the answer lists 1 of 3.');
    expect(idsOf(found)).toEqual(['101']);
  });

  it('asks nothing more after a refused key', async () => {
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
    expect(idsOf(found)).toEqual(['101', '103']);
  });
});

describe('a search that finds nothing', () => {
  it('is believed if the account answers', async () => {
    const bench = aBench([], { fleet: { applications: [] } });
    const found = await bench.discover([all]);
    const toMs = bench.clock.wallMs();

    expect(found).toMatchObject({ complete: true, applications: [], calls: 2 });
    expect(bench.requests.at(-1)?.body).toContain(`SINCE ${toMs - 3_600_000} UNTIL ${toMs}`);
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
    return bench.discover([all], [], controller.signal);
  }
  const deadline = new ApiError('timeout', 'time is over');

  it('at the deadline keeps what was read', async () => {
    const found = await abortedAt(2, deadline);

    expect(found).toMatchObject({ complete: false, error: deadline, calls: 2 });
    expect(found.applications).toHaveLength(2);
  });

  it.each([1, 2])('for any other reason rejects, in call %i', async (call) => {
    const stopped = new Error('stopped');

    await expect(abortedAt(call, stopped)).rejects.toBe(stopped);
  });
});
