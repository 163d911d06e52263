import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MetricScope, PolledSeries } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import {
  applicationQueriesOf,
  batchColumnsOf,
  batchesOf,
  choosingHosts,
  fillUp,
  kindOf,
  type RecordedQuery,
  recordedQueriesOf,
  rowsOf,
  slicesOf,
  wantedHosts,
} from '../../src/nerdgraph/query-plan.ts';
import type { QuerySize } from '../../src/nerdgraph/query-sizes.ts';
import { anEntry, aSelected } from '../support/builders.ts';
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

function ofScope(scope: MetricScope): readonly PolledSeries[] {
  return anEntry().series.map((one) => ({ ...one, scope }));
}

/** The same, published otherwise. */
const renamed: readonly PolledSeries[] = anEntry().series.map((one) => ({
  ...one,
  gauge: { ...one.gauge, name: 'shop_requests' },
  labels: { tier: 'gold' },
  scale: 60,
}));

function manySeries(count: number): readonly PolledSeries[] {
  const [first] = anEntry().series;
  if (first === undefined) throw new Error('an entry has series');
  return Array.from({ length: count }, (_, index) => ({ ...first, metric: `Custom/${index}` }));
}

function queriesOf(
  batch: readonly SelectedApplication[],
  some: QuerySize = size,
): readonly (readonly string[])[] {
  const queries = applicationQueriesOf(batch, batchColumnsOf(batch, itself), itself, some);
  return idsOf(queries.map(({ items }) => items));
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
    { what: 'all hosts', selected: anApp(1, 10), is: 10 },
    {
      what: 'all hosts, and all that there is to read',
      selected: anApp(1, 10, { poll: { metrics: presetNames } }),
      is: 10,
    },
    {
      what: 'hosts of which nothing is read',
      selected: anApp(1, 10, { series: ofScope('applications') }),
      is: 0,
    },
    { what: 'no hosts', selected: anApp(1, 10, { hosts: false }), is: 0 },
    { what: 'some hosts, by name', selected: anApp(1, 10, { hosts: even }), is: 5 },
    { what: 'so many that all are asked for', selected: anApp(1, 202, { hosts: even }), is: 202 },
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
    { what: 'the hosts of four queries', items: apps(40, 400), is: 1 },
    { what: 'more hosts than four queries have', items: apps(41, 400), is: 2 },
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
    { what: 'metrics', entry: { poll: { metrics: ['throughput', 'apdex'] } } },
    { what: 'scopes of what is read', entry: { series: ofScope('hosts') } },
    { what: 'ways to ask for hosts', entry: { hosts: even } },
  ] as const)('keeps different $what apart', ({ entry }) => {
    const batches = batchesOf([anApp(1, 2), anApp(2, 2, entry), anApp(3, 2)], itself, size);

    expect(idsOf(batches)).toEqual([['1', '3'], ['2']]);
  });

  it.each([
    { what: 'rounding', entry: { poll: { raw: true } } },
    { what: 'labels', entry: { labels: { team: 'a' } } },
    { what: 'parts of an application', entry: { application: false } },
    { what: 'orders of metrics', entry: { series: anEntry().series.toReversed() } },
    { what: 'names for what is read', entry: { series: renamed } },
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
      anApp(303, 15_000),
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

    expect(queriesOf(batch)).toEqual([['1', '3']]);
    expect(queriesOf([])).toEqual([]);
  });

  it('hold no more than fit', () => {
    expect(queriesOf(apps(5), { applications: 2, rows: 50 })).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['5'],
    ]);
  });

  it('are as many with all presets as with throughput alone', () => {
    const all = apps(450, 1, { poll: { metrics: presetNames } });

    expect(queriesOf(all)).toEqual(queriesOf(apps(450)));
  });

  it('are none if nothing is read of applications', () => {
    expect(queriesOf(apps(3, 1, { series: ofScope('hosts') }))).toEqual([]);
  });

  it('are two for the same applications if they would be too long', () => {
    const series = manySeries(33);

    expect(queriesOf(apps(3, 1, { series }))).toEqual([
      ['1', '2', '3'],
      ['1', '2', '3'],
    ]);
  });
});

describe('the queries for recorded metrics', () => {
  const recordedOf = (
    batch: readonly SelectedApplication[],
  ): readonly RecordedQuery<SelectedApplication>[] =>
    recordedQueriesOf(batch, batchColumnsOf(batch, itself), itself, size);

  it('ask for the metrics whose values may be 0', () => {
    const metrics = recordedOf(apps(2, 1, { poll: { metrics: presetNames } })).map(
      (query) => query.metrics,
    );

    expect(metrics).toEqual([
      [
        'CPU/User Time',
        'Datastore/allOther',
        'Datastore/allWeb',
        'Errors/allOther',
        'Errors/allWeb',
        'External/all',
        'HttpDispatcher',
        'OtherTransaction/all',
      ],
    ]);
  });

  it('are as many with all presets as with throughput alone', () => {
    expect(recordedOf(apps(200))).toHaveLength(1);
    expect(recordedOf(apps(200, 1, { poll: { metrics: presetNames } }))).toHaveLength(1);
  });

  it('are none if only averages are read', () => {
    expect(recordedOf(apps(3, 1, { poll: { metrics: ['apdex', 'memory'] } }))).toEqual([]);
  });

  it('are more if there would be more rows than an answer should have', () => {
    expect(
      recordedOf(apps(200, 1, { series: manySeries(30) })).map(({ items }) => items.length),
    ).toEqual([83, 83, 34]);
  });

  it('leave out applications of which nothing is asked', () => {
    const batch = [
      anApp(1, 0, { application: false }),
      anApp(2, 0),
      anApp(3, 1, { application: false }),
    ];

    expect(idsOf(recordedOf(batch).map(({ items }) => items))).toEqual([['2', '3']]);
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
