import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import { parseEntityQuery } from '../../../src/simulator/entity-search.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aBench, cart, type Discovered, everything, searchesIn, shop } from './a-discovery.ts';
import { aNerdGraphSource } from './a-nerdgraph-source.ts';
import { anEntity, pageAnswer } from './answers.ts';

const byShop = " AND name IN ('shop')";
const unknown: Selector = { kind: 'id', id: '9' };
const byUnknown = " AND domainId IN ('9')";
const byCart = " AND domainId IN ('102')";
const later = (first: number, status: number): FaultRule => ({
  when: { operation: 'entity_search', calls: { first } },
  fault: { kind: 'status', status },
});
/** Searches with this text get an error of this class. */
const filtered = (queryIncludes: string, errorClass: string): FaultRule => ({
  when: { operation: 'entity_search', queryIncludes },
  fault: { kind: 'graphql_error', errorClass, message: 'no such filter' },
});
const answeredBy = (...entities: readonly unknown[]): FaultRule => ({
  fault: { kind: 'document', body: pageAnswer(entities).body },
});

describe('a discovery', () => {
  it('lists the applications, and how many hosts New Relic counts', async () => {
    const bench = aBench();
    const found = await bench.discover([everything]);

    const rest = { complete: true, error: undefined, pendingIds: [], unreadableIds: [], calls: 1 };
    expect(found).toMatchObject(rest);
    expect(found.applications).toMatchObject([
      { id: '102', hostIds: undefined, hostCount: 1 },
      { id: '101', hostIds: undefined, hostCount: 2 },
      { id: '103', hostIds: [], hostCount: undefined },
    ]);
    expect(bench.requests).toMatchObject([{ operation: 'list_applications', target: '/graphql' }]);
  });

  it.each<[string, readonly Selector[], readonly string[], readonly string[]]>([
    ['a name', [shop], [byShop], ['101']],
    ['an id', [cart], [byCart], ['102']],
    ['both', [shop, cart], [byCart, byShop], ['101', '102']],
    ['everything', [], [''], ['101', '102', '103']],
    ['what is not there, among others', [shop, unknown], [byUnknown, byShop], ['101']],
    ['nothing that is there', [unknown], [byUnknown], []],
  ])('searches %s once, and believes it', async (_, selectors, searches, ids) => {
    const bench = aBench();

    for (const known of [[], ['101', '102', '103', '9']]) {
      expect(await bench.discover(selectors, known)).toMatchObject({ ids, complete: true });
    }
    expect(bench.searches()).toEqual([...searches, ...searches]);
    expect(bench.unexpected).toEqual([]);
  });

  it.each([
    ['names', 'name IN', [shop], [byShop, ''], 'INVALID_INPUT'],
    ['ids', 'domainId IN', [cart, shop], [byCart, ''], 'INVALID_INPUT'],
    // How long a search may be is not documented.
    ['names, as too large,', 'name IN', [shop], [byShop, ''], 'TIMEOUT'],
  ])(
    'reads the whole list if a search by %s is refused',
    async (_, filter, selectors, searches, errorClass) => {
      const bench = aBench([filtered(filter, errorClass)]);
      const found = [await bench.discover(selectors), await bench.discover(selectors)];

      const whole = { complete: true, error: undefined, ids: ['101', '102', '103'], calls: 2 };
      expect(found).toMatchObject([whole, whole]);
      expect(bench.searches()).toEqual([...searches, ...searches]);
    },
  );

  it.each([
    ['a search by names that fails', [shop], 1],
    ['a whole list that is refused', [everything], 1],
  ])('makes no second search after %s', async (_, selectors, calls) => {
    const errorClass = selectors.includes(shop) ? 'INTERNAL_SERVER_ERROR' : 'INVALID_INPUT';
    const bench = aBench([filtered('domain =', errorClass)]);

    expect(await bench.discover(selectors)).toMatchObject({ complete: false, ids: [], calls });
    expect(bench.searches()).toHaveLength(calls);
  });

  it('leaves out entities of other accounts', async () => {
    const bench = aBench([answeredBy(anEntity(1), anEntity(2, { accountId: 999 }))]);

    expect(await bench.discover([everything])).toMatchObject({ ids: ['1'], complete: true });
    expect(bench.unexpected).toEqual(['foreign_entity']);
  });

  it('asks nothing more after a refused key', async () => {
    const bench = aBench([{ fault: { kind: 'status', status: 401 } }]);
    const found = await bench.discover([everything]);

    expect(found).toMatchObject({ complete: false, calls: 1, error: { reason: 'auth' } });
    expect(bench.requests).toHaveLength(1);
  });

  it('looks up nothing that is known if the list is incomplete', async () => {
    const bench = aBench([later(2, 500)], { graphql: { entityPageSize: 1 } });
    const found = await bench.discover([everything], ['999']);

    expect(found).toMatchObject({ complete: false, error: { status: 500 }, ids: ['102'] });
    expect(bench.searches()).toHaveLength(2);
  });
});

describe('a search that finds nothing', () => {
  it('is believed if the account answers, which is asked about the last hour', async () => {
    const bench = aBench([], { fleet: { applications: [] } });
    const found = await bench.discover([everything]);
    const toMs = Math.floor(bench.clock.wallMs() / 60_000) * 60_000;

    expect(found).toMatchObject({ complete: true, applications: [], calls: 2 });
    expect(bench.requests.at(-1)?.body).toContain(`SINCE ${toMs - 3_600_000} UNTIL ${toMs}`);
  });

  it('is not believed if the key does not see the account: nothing is gone then', async () => {
    const bench = aBench([], { graphql: { accountId: 1 } });
    const found = await bench.discover([everything], ['101']);

    expect(found).toMatchObject({ complete: false, ids: [], calls: 2, error: { status: 403 } });
    expect(found.error?.message).toContain(
      'has no access to the account 1234567: check account_id',
    );
  });
});

describe('an abort of a discovery', () => {
  async function abortedAt(call: number, reason: Error): Promise<Discovered> {
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
    return bench.discover([everything], [], controller.signal);
  }

  const stopped = new Error('stopped');
  it.each([
    ['even if the whole list comes with it', pageAnswer([anEntity(1)])],
    ['while an empty account is asked whether it answers', undefined],
  ])('rejects with its reason %s', async (_, answer) => {
    const controller = new AbortController();
    const { source } = aNerdGraphSource(async ({ body = '' }) => {
      if (answer === undefined && body.includes('entitySearch')) return pageAnswer([]);
      controller.abort(stopped);
      return answer ?? Promise.reject(stopped);
    });

    const found = source.discover({ selectors: [everything] }, [], controller.signal);
    await expect(found).rejects.toBe(stopped);
  });

  it.each([1, 2])('rejects with its reason, in call %i', async (call) => {
    await expect(abortedAt(call, stopped)).rejects.toBe(stopped);
  });
});

/** A page of a search with so many entities on all its pages. */
interface Page {
  readonly entities: readonly unknown[];
  readonly next?: string;
  readonly count?: number;
}

/** A discovery of an id and a name: pages by search and cursor, such as `ids`, `names` and `names x`. */
async function list(pageOf: Readonly<Record<string, Page>> | ((key: string) => Page)) {
  const { source, requests } = aNerdGraphSource(async ({ body = '' }) => {
    const { variables } = JSON.parse(body) as { variables: { search: string; cursor?: string } };
    const kind = variables.search.includes('domainId') ? 'ids' : 'names';
    const key = [kind, variables.cursor].filter(Boolean).join(' ');
    const page = typeof pageOf === 'function' ? pageOf(key) : pageOf[key];
    if (page === undefined) throw new Error(`a page nobody expected: ${key}`);
    const { entities, next: nextCursor, count = entities.length } = page;
    const entitySearch = { count, results: { entities, nextCursor } };
    return answerOf({ data: { actor: { entitySearch } } });
  });
  const selectors = [
    ...(typeof pageOf === 'function' ? [] : [{ kind: 'id', id: '9' } as const]),
    shop,
  ];
  const { applications, ...found } = await source.discover({ selectors }, [], neverAborted);
  return { ...found, ids: applications.map(({ id }) => id), calls: requests.length };
}

describe('the pages of a list', () => {
  const [one, two, named] = [anEntity(1), anEntity(2), anEntity(9, { name: 'shop' })];
  const names = { names: { entities: [named] } };

  it.each<[string, Readonly<Record<string, Page>>, string]>([
    [
      'fewer than New Relic counts',
      { ids: { entities: [one], next: 'x', count: 3 }, 'ids x': { entities: [two], count: 4 } },
      'the answer lists 2 of 4.',
    ],
    [
      'an application twice',
      {
        ids: { entities: [one], next: 'x', count: 3 },
        'ids x': { entities: [one, two], count: 3 },
      },
      'the answer lists 2 of 3.',
    ],
    [
      'an entity that nobody can identify',
      { ids: { entities: [one, anEntity(2, { applicationId: 0.5 })] } },
      'left out (1), the first: element 1: ',
    ],
    [
      'nothing new on a page that names a next one',
      {
        ids: { entities: [one], next: 'x', count: 200 },
        'ids x': { entities: [two], next: 'y', count: 200 },
        'ids y': { entities: [one], next: 'x', count: 200 },
      },
      'the list of 200 does not end after page 3',
    ],
  ])('are incomplete with %s, and the other list is read', async (_, script, says) => {
    const found = await list({ ...script, ...names });

    expect(found.ids).toEqual(expect.arrayContaining(['1', '9']));
    expect(found).toMatchObject({ complete: false, error: { reason: 'schema' } });
    expect(found.error?.message).toContain(says);
  });

  it.each([
    [1, 5, 11],
    [2, 5, 6],
    [200, 450, 5],
    [200, 0, 1],
  ])('with %d on each of a list of %d are %d at most', async (perPage, count, pages) => {
    let page = 0;
    const found = await list(() => {
      page += 1;
      const entities = Array.from({ length: perPage }, (_, at) => anEntity(page * perPage + at));
      return { entities, next: `${page}`, count };
    });

    const message: unknown = expect.stringContaining(`${count} does not end after page ${pages}`);
    expect(found).toMatchObject({ calls: pages, error: { message } });
    expect(found.ids).toHaveLength(pages * perPage);
  });
});

describe('the searches of a discovery', () => {
  /** Ten digits: a list has room for 292. */
  const ids = (count: number): readonly Selector[] =>
    Array.from({ length: count }, (_, at) => ({ kind: 'id', id: `${1_000_000_000 + at}` }));
  /** 34 characters: a list has room for 102. */
  const names = (count: number): readonly Selector[] =>
    Array.from({ length: count }, (_, at) => ({ kind: 'name', name: `app ${at}`.padEnd(34, '.') }));

  async function searched(selectors: readonly Selector[]): Promise<readonly string[]> {
    const bench = aNerdGraphSource(async () => answerOf('', { status: 401 }));
    // The first page of each search is refused: so each is asked for alone.
    await bench.source.discover({ selectors }, [], neverAborted);
    return searchesIn(bench);
  }

  it.each<[string, readonly Selector[], number]>([
    ['no more ids than a search holds', ids(292), 1],
    ['more ids', ids(293), 2],
    ['no more names than a search holds', names(102), 1],
    ['more names', names(103), 2],
    ['an id and a name, each once', [...ids(1), ...names(1), ...ids(1)], 2],
  ])('for %s have each value once, in texts that are short enough', async (_, selectors, count) => {
    const bench = aNerdGraphSource(async () => pageAnswer([anEntity(1)]));
    await bench.source.discover({ selectors }, [], neverAborted);
    const texts = searchesIn(bench).slice(0, count);
    const found = texts.flatMap((text) =>
      [...text.matchAll(/'([^']*)'[,)]/gu)].map(([, value]) => value),
    );

    const wanted = selectors.map((one) =>
      one.kind === 'id' ? one.id : 'name' in one ? one.name : '',
    );
    expect(found).toEqual([...new Set(wanted)]);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4000);
    for (const text of texts) expect(() => parseEntityQuery(text)).not.toThrow();
  });

  const pattern: Selector = { kind: 'match', pattern: /^shop/u };
  it.each<[string, readonly Selector[]]>([
    ['a pattern', [pattern]],
    ['a pattern beside ids', [...ids(1), pattern]],
    ['a name with a quote', [{ kind: 'name', name: "o'brien" }]],
    ['a name with a double quote', [{ kind: 'name', name: 'the "shop"' }]],
    ['a name with a backslash', [{ kind: 'name', name: String.raw`dc\shop` }]],
    ['more ids than five searches hold', ids(1461)],
    ['more names than five searches hold', names(511)],
    ['both, too many together', [...ids(600), ...names(300)]],
  ])('are one for the whole list, for %s', async (_, selectors) => {
    expect(await searched(selectors)).toEqual([expect.not.stringContaining(' IN ')]);
  });
});
