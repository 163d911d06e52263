import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import {
  applicationQueriesOf,
  batchesOf,
  choosingHosts,
  fillUp,
  kindOf,
  rowsOf,
  slicesOf,
  wantedHosts,
} from '../../src/nerdgraph/query-plan.ts';
import type { QuerySize } from '../../src/nerdgraph/query-sizes.ts';
import { aSelected } from '../support/builders.ts';
import { hostsNamed, someFleet, someSize } from './some-fleet.ts';

const size: QuerySize = { applications: 200, rows: 4000 };
const itself = (selected: SelectedApplication): SelectedApplication => selected;

function anApp(
  id: number,
  hosts: number,
  entry: Parameters<typeof aSelected>[1] = {},
): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds: hostsNamed(hosts) }, entry);
}

function apps(
  count: number,
  hosts = 2,
  entry: Parameters<typeof aSelected>[1] = {},
): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) => anApp(index + 1, hosts, entry));
}

function idsOf(
  batches: readonly (readonly SelectedApplication[])[],
): readonly (readonly string[])[] {
  return batches.map((batch) => batch.map(({ application }) => application.id));
}

const even = { kind: 'match', pattern: /[02468]$/u } as const;

describe('the hosts that are wanted', () => {
  it.each([
    { what: 'all', selected: anApp(1, 3), is: ['host-0', 'host-1', 'host-2'] },
    { what: 'none', selected: anApp(1, 3, { hosts: false }), is: [] },
    { what: 'those that match', selected: anApp(1, 3, { hosts: even }), is: ['host-0', 'host-2'] },
    {
      what: 'the own one, whatever its case',
      selected: anApp(1, 3, { hosts: { kind: 'self', names: ['HOST-1', 'other'] } }),
      is: ['host-1'],
    },
    {
      what: 'those that were chosen before',
      selected: { ...anApp(1, 3, { hosts: even }), namedHostIds: ['host-1'] },
      is: ['host-1'],
    },
    {
      what: 'none as long as none are listed',
      selected: aSelected({ hostIds: undefined }),
      is: [],
    },
  ])('are $what', ({ selected, is }) => {
    expect(wantedHosts(selected)).toEqual(is);
  });

  it('are chosen anew among those that are listed now', () => {
    const selected = { ...anApp(1, 3, { hosts: even }), namedHostIds: [] };

    expect(choosingHosts(selected).namedHostIds).toEqual(['host-0', 'host-2']);
    expect(choosingHosts(anApp(1, 3))).toEqual(anApp(1, 3));
  });
});

describe('the rows of an application', () => {
  it.each([
    { what: 'all hosts, with two types', selected: anApp(1, 10), is: 30 },
    { what: 'all hosts, with one type', selected: anApp(1, 10, { transactions: ['web'] }), is: 20 },
    { what: 'no hosts', selected: anApp(1, 10, { hosts: false }), is: 0 },
    { what: 'some hosts, by name', selected: anApp(1, 10, { hosts: even }), is: 15 },
    { what: 'so many that all are asked for', selected: anApp(1, 202, { hosts: even }), is: 606 },
    {
      what: 'a choice that chooses none',
      selected: anApp(1, 10, { hosts: { kind: 'self', names: ['x'] } }),
      is: 0,
    },
  ])('with $what are $is', ({ selected, is }) => {
    expect(rowsOf(selected)).toBe(is);
  });
});

describe('batchesOf', () => {
  it.each([
    { what: 'no application', items: [], is: 0 },
    { what: '200 applications', items: apps(200), is: 1 },
    { what: '201 applications', items: apps(201), is: 2 },
    { what: 'the hosts of four queries', items: apps(40, 133), is: 1 },
    { what: 'more hosts than four queries have', items: apps(41, 133), is: 2 },
    { what: 'many hosts that nobody wants', items: apps(200, 1000, { hosts: false }), is: 1 },
    { what: 'applications with very many hosts', items: apps(3, 12_000), is: 3 },
  ])('makes $is batches of $what', ({ items, is }) => {
    expect(batchesOf(items, itself, size)).toHaveLength(is);
  });

  it.each([
    { what: 'windows', entry: { poll: { window: { kind: 'vendor_default' } } } },
    { what: 'intervals', entry: { poll: { intervalMs: 300_000 } } },
    { what: 'delays', entry: { poll: { delayMs: 60_000 } } },
    { what: 'transactions', entry: { transactions: ['web'] } },
    { what: 'ways to ask for hosts', entry: { hosts: even } },
  ] as const)('keeps different $what apart', ({ entry }) => {
    const batches = batchesOf([anApp(1, 2), anApp(2, 2, entry), anApp(3, 2)], itself, size);

    expect(idsOf(batches)).toEqual([['1', '3'], ['2']]);
  });

  it.each([
    { what: 'rounding', entry: { poll: { raw: true } } },
    { what: 'labels', entry: { labels: { team: 'a' } } },
    { what: 'parts of an application', entry: { application: false } },
    { what: 'applications without hosts', entry: { hosts: false } },
  ] as const)('lets different $what share a batch', ({ entry }) => {
    expect(idsOf(batchesOf([anApp(1, 2), anApp(2, 2, entry)], itself, size))).toEqual([['1', '2']]);
  });

  it('has every application in one batch, of its kind, within the size', () => {
    fc.assert(
      fc.property(someFleet, someSize, (fleet, some) => {
        const batches = batchesOf(fleet, itself, some);

        expect(idsOf(batches).flat().toSorted()).toEqual(
          fleet.map(({ application }) => application.id).toSorted(),
        );
        for (const batch of batches) {
          const rows = batch.reduce((sum, one) => sum + rowsOf(one), 0);
          expect(batch.length).toBeLessThanOrEqual(some.applications);
          expect(new Set(batch.map(kindOf)).size).toBe(1);
          expect(batch.length === 1 || rows <= 4 * some.rows).toBe(true);
        }
      }),
    );
  });
});

describe('fillUp', () => {
  it('adds what has room in the last batch of its kind, and leaves out the rest', () => {
    const batches = batchesOf(apps(203), itself, size);
    const early = [
      anApp(301, 2),
      anApp(302, 2, { transactions: ['web'] }),
      anApp(303, 5000),
      anApp(304, 2),
    ];

    fillUp(batches, early, itself, size);

    expect(idsOf(batches)[0]).toHaveLength(200);
    expect(idsOf(batches)[1]).toEqual(['201', '202', '203', '301', '303', '304']);
  });

  it('makes no batch of its own', () => {
    const batches: SelectedApplication[][] = [];

    fillUp(batches, apps(3), itself, size);

    expect(batches).toEqual([]);
  });

  it('never makes a batch too large, and takes nobody twice', () => {
    fc.assert(
      fc.property(someFleet, someSize, fc.nat(40), (fleet, some, middle) => {
        const batches = batchesOf(fleet.slice(0, middle), itself, some);
        const before = batches.length;
        fillUp(batches, fleet.slice(middle), itself, some);

        expect(batches).toHaveLength(before);
        const ids = idsOf(batches).flat();
        expect(new Set(ids).size).toBe(ids.length);
        for (const batch of batches) {
          expect(batch.length).toBeLessThanOrEqual(some.applications);
          expect(new Set(batch.map(kindOf)).size).toBe(1);
        }
      }),
    );
  });
});

describe('the queries for applications', () => {
  it('leave out those of which only hosts are wanted', () => {
    const batch = [anApp(1, 1), anApp(2, 1, { application: false }), anApp(3, 1)];

    expect(idsOf(applicationQueriesOf(batch, itself, size))).toEqual([['1', '3']]);
    expect(applicationQueriesOf([], itself, size)).toEqual([]);
  });

  it('hold no more than fit', () => {
    const queries = applicationQueriesOf(apps(5), itself, { applications: 2, rows: 50 });

    expect(idsOf(queries)).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });
});

describe('slicesOf', () => {
  it.each([
    { items: [], is: [] },
    { items: [1, 2, 3], is: [[1, 2, 3]] },
    { items: [1, 2, 3, 4], is: [[1, 2, 3], [4]] },
  ])('cuts $items', ({ items, is }) => {
    expect(slicesOf(items, 3)).toEqual(is);
  });
});
