import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Selector } from '../../../src/model/config.ts';
import type { Discovery } from '../../../src/model/source.ts';
import { aBench, all, cart, idsOf, shop } from './a-discovery.ts';
import { anEntity, pageAnswer } from './answers.ts';

describe('a discovery', () => {
  it('lists the applications, and how many hosts New Relic counts', async () => {
    const bench = aBench();
    const found = await bench.discover([all]);

    expect(found.applications).toMatchObject([
      { id: '102', hostIds: undefined, hostCount: 1 },
      { id: '101', hostIds: undefined, hostCount: 2 },
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
});

describe('a search that finds nothing', () => {
  it('is believed if the account answers', async () => {
    const bench = aBench([], { fleet: { applications: [] } });
    const found = await bench.discover([all]);
    const toMs = Math.floor(bench.clock.wallMs() / 60_000) * 60_000;

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
