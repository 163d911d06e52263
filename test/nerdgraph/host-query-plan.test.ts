import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import { halvesOf } from '../../src/nerdgraph/host-partition.ts';
import { type HostQuery, hostQueriesOf, namesIn } from '../../src/nerdgraph/host-query-plan.ts';
import { batchColumnsOf, batchesOf, wantedHosts } from '../../src/nerdgraph/query-plan.ts';
import type { QuerySize } from '../../src/nerdgraph/query-sizes.ts';
import { aSelected } from '../support/builders.ts';
import { hostsNamed, someFleet, someSize } from './some-fleet.ts';

type Queries = readonly HostQuery<SelectedApplication>[];

const large: QuerySize = { applications: 200, rows: 1300 };
const itself = (selected: SelectedApplication): SelectedApplication => selected;
const even = { kind: 'match', pattern: /[02468]$/u } as const;

function anApp(
  id: number,
  hostIds: readonly string[],
  entry: Parameters<typeof aSelected>[1] = {},
): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds }, entry);
}

function queriesOf(batch: readonly SelectedApplication[], size: QuerySize): Queries {
  return hostQueriesOf(batch, batchColumnsOf(batch, itself), itself, size);
}

function idsOf(queries: Queries): readonly (readonly string[])[] {
  return queries.map(({ items }) => items.map(({ application }) => application.id));
}

/** How many rows the answer will have. */
function rowsOfAnswer({ items, subset }: HostQuery<SelectedApplication>): number {
  return items.reduce((sum, one) => sum + namesIn(subset, one).length, 0);
}

describe('the queries for hosts', () => {
  it('ask for all hosts of several applications', () => {
    const batch = [anApp(1, ['a']), anApp(2, ['b', 'c'], { application: false })];
    const queries = queriesOf(batch, large);

    expect(idsOf(queries)).toEqual([['1', '2']]);
    expect(queries[0]?.subset.condition).toBeUndefined();
  });

  it('leave out applications without wanted hosts', () => {
    const batch = [anApp(1, []), anApp(2, ['a'], { hosts: false }), anApp(3, ['a'])];

    expect(idsOf(queriesOf(batch, large))).toEqual([['3']]);
    expect(queriesOf([], large)).toEqual([]);
  });

  it.each([
    {
      what: 'rows',
      batch: [40, 40, 40].map((count, index) => anApp(index, hostsNamed(count))),
      size: { applications: 200, rows: 85 },
      is: [['0', '1'], ['2']],
    },
    {
      what: 'applications',
      batch: [1, 1, 1].map((count, index) => anApp(index, hostsNamed(count))),
      size: { applications: 2, rows: 250 },
      is: [['0', '1'], ['2']],
    },
  ])('hold no more $what than fit', ({ batch, size, is }) => {
    expect(idsOf(queriesOf(batch, size))).toEqual(is);
  });

  it('go on filling a query after an application that has queries of its own', () => {
    const batch = [anApp(1, ['a']), anApp(2, hostsNamed(200)), anApp(3, ['b'])];

    expect(idsOf(queriesOf(batch, { applications: 200, rows: 120 }))).toEqual([
      ['2'],
      ['2'],
      ['1', '3'],
    ]);
  });

  it('name few hosts', () => {
    const batch = [
      anApp(1, ['a0', 'a1'], { hosts: even }),
      anApp(2, ['b2', 'b3'], { hosts: even }),
    ];
    const queries = queriesOf(batch, large);

    expect(queries.map(({ subset }) => subset.condition)).toEqual(["host IN ('a0','b2')"]);
  });

  it('name a hundred hosts at most', () => {
    const batch = [60, 40, 2].map((count, index) =>
      anApp(index, hostsNamed(2 * count, `app${index}`), { hosts: even }),
    );

    expect(idsOf(queriesOf(batch, large))).toEqual([['0', '1'], ['2']]);
  });

  it('ask for all hosts where more than a hundred are chosen', () => {
    const queries = queriesOf([anApp(1, hostsNamed(204), { hosts: even })], large);

    expect(queries.map(({ subset }) => subset.condition)).toEqual([undefined]);
  });

  it('count a name for each application that runs on that host', () => {
    // Every application wants another host, but all run on all of them.
    const batch = Array.from({ length: 50 }, (_, index) =>
      anApp(index, hostsNamed(50), { hosts: { kind: 'self', names: [`host-${index}`] } }),
    );
    const queries = queriesOf(batch, large);

    expect(queries.length).toBeGreaterThan(1);
    for (const query of queries) expect(rowsOfAnswer(query)).toBeLessThanOrEqual(1300);
  });

  it('name the hosts of one application in several queries if need be', () => {
    const queries = queriesOf([anApp(1, hostsNamed(60), { hosts: even })], {
      applications: 1,
      rows: 16,
    });

    expect(queries.map((query) => rowsOfAnswer(query))).toEqual([16, 14]);
  });

  it('have every wanted host of every application in one of them', () => {
    fc.assert(
      fc.property(someFleet, someSize, (fleet, size) => {
        for (const batch of batchesOf(fleet, itself, size)) {
          const queries = queriesOf(batch, size);
          for (const one of batch) {
            const own = queries.filter(({ items }) => items.includes(one));
            const wanted = wantedHosts(one);
            const found = wanted.map((name) => own.filter(({ subset }) => subset.has(name)).length);

            expect(found).toEqual(wanted.map(() => 1));
            expect(own.length > 0).toBe(wanted.length > 0);
          }
        }
      }),
    );
  });

  it('are never larger than they may be', () => {
    fc.assert(
      fc.property(someFleet, someSize, (fleet, size) => {
        for (const batch of batchesOf(fleet, itself, size)) {
          for (const query of queriesOf(batch, size)) {
            const { items, subset } = query;
            expect(items.length).toBeLessThanOrEqual(size.applications);
            expect(rowsOfAnswer(query) <= size.rows || isAlike(query)).toBe(true);
            expect(subset.names?.length ?? 0).toBeLessThanOrEqual(100);
          }
        }
      }),
    );
  });
});

/** Whether the query is about hosts that no condition tells apart: very few. */
function isAlike({ items, subset }: HostQuery<SelectedApplication>): boolean {
  const [only] = items;
  if (only === undefined || items.length > 1 || subset.names !== undefined) return false;
  return halvesOf(subset, namesIn(subset, only))?.[0].names !== undefined;
}

describe('namesIn', () => {
  it('are the listed hosts of a part, or else the wanted ones', () => {
    const [query] = queriesOf([anApp(1, ['a0', 'a1'], { hosts: even })], large);
    const unlisted = { ...aSelected({ hostIds: undefined }, { hosts: even }), namedHostIds: ['x'] };

    expect(query && namesIn(query.subset, anApp(1, ['a0', 'a1', 'b0']))).toEqual(['a0']);
    expect(namesIn({ condition: undefined, depth: 0, has: () => true }, unlisted)).toEqual(['x']);
  });
});
