import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MetricScope, PolledSeries } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import {
  hostSelectorOf,
  type SelectedApplication,
} from '../../../src/model/selected-application.ts';
import type { Subject } from '../../../src/model/source.ts';
import {
  asksForHosts,
  type DivisionOf,
  groupsOf,
  kindOf,
  type PlannedQuery,
  queriesOf,
  rowsOf,
  undivided,
} from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { anEntry, aQuery, aSelected } from '../../support/builders.ts';
import { hostsNamed, someDivisions, someFleet } from './some-fleet.ts';

type Entry = Parameters<typeof aSelected>[1];

function anApp(id: number, hosts: number, entry: Entry = {}): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds: hostsNamed(hosts) }, entry);
}

/** An application whose hosts no poll has named yet. */
function aNewApp(id: number, hostCount?: number, entry: Entry = {}): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds: undefined, hostCount }, entry);
}

function apps(count: number, hosts = 2, entry: Entry = {}): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) => anApp(index + 1, hosts, entry));
}

function asking(all: readonly SelectedApplication[]) {
  return all.map((selected) => ({ kind: 'application' as const, selected }));
}

function batchIdsOf(
  due: readonly SelectedApplication[],
  early: readonly SelectedApplication[] = [],
): readonly (readonly string[])[] {
  return groupsOf(asking(due), asking(early)).map((batch) =>
    batch.map(({ selected }) => selected.application.id),
  );
}

function planOf(
  all: readonly SelectedApplication[],
  divisionOf: DivisionOf = () => undivided,
): readonly PlannedQuery[] {
  return queriesOf(asking(all), divisionOf);
}

/** The ids in each query about this. */
function idsOf(
  subject: PlannedQuery['subject'],
  ...plan: Parameters<typeof planOf>
): readonly (readonly string[])[] {
  return planOf(...plan)
    .filter((query) => query.subject === subject)
    .map(({ applicationIds }) => applicationIds);
}

function ofScope(scope: MetricScope): readonly PolledSeries[] {
  return anEntry().series.map((one) => ({ ...one, scope }));
}

const manySeries: readonly PolledSeries[] = anEntry()
  .series.slice(0, 1)
  .flatMap((one) =>
    Array.from({ length: 33 }, (_, index) => ({ ...one, metric: `Custom/${index}` })),
  );

const even = { kind: 'match', pattern: /[02468]$/u } as const;
const self = { kind: 'self', names: ['Web-1'] } as const;

describe('the rows of an application', () => {
  it.each([
    { what: 'known hosts', selected: anApp(1, 10), is: 10 },
    { what: 'all presets', selected: anApp(1, 10, { poll: { metrics: presetNames } }), is: 10 },
    { what: 'hosts that are chosen on our side', selected: anApp(1, 10, { hosts: even }), is: 10 },
    { what: 'the host of this process', selected: anApp(1, 10, { hosts: self }), is: 1 },
    { what: 'hosts that New Relic counts', selected: aNewApp(1, 7), is: 7 },
    { what: 'hosts that nobody has counted', selected: aNewApp(1), is: 20 },
    { what: 'no hosts so far', selected: anApp(1, 0), is: 1 },
    { what: 'hosts that nobody wants', selected: anApp(1, 10, { hosts: false }), is: 0 },
    {
      what: 'hosts of which nothing is read',
      selected: anApp(1, 10, { series: ofScope('applications') }),
      is: 0,
    },
  ])('with $what are $is', ({ selected, is }) => {
    expect(rowsOf(selected)).toBe(is);
  });
});

describe('groupsOf', () => {
  it.each([
    { what: 'no application', all: [], is: 0 },
    { what: '200 applications', all: apps(200), is: 1 },
    { what: '201 applications', all: apps(201), is: 2 },
    { what: 'the hosts of four queries', all: apps(40, 250), is: 1 },
    { what: 'more hosts than four queries have', all: apps(41, 250), is: 2 },
    { what: 'many hosts that nobody wants', all: apps(200, 1000, { hosts: false }), is: 1 },
    { what: 'applications with very many hosts', all: apps(3, 12_000), is: 3 },
  ])('makes $is batches of $what', ({ all, is }) => {
    expect(batchIdsOf(all)).toHaveLength(is);
  });

  it('are one for each query that is due, and none for others', () => {
    const asked = ['a', 'b'].map((name) => ({
      kind: 'query' as const,
      query: { ...aQuery, name },
    }));
    const [application] = asking(apps(1));
    const due = application === undefined ? asked : [...asked, application];

    expect(groupsOf<Subject>(due, asked)).toEqual(due.map((one) => [one]));
  });

  it('has every application that is due in one batch, of its kind, within the size', () => {
    fc.assert(
      fc.property(someFleet, fc.nat(40), (fleet, middle) => {
        const [due, early] = [fleet.slice(0, middle), fleet.slice(middle)].map(asking);
        const batches = groupsOf(due ?? [], early);
        const all = batches.flat();

        expect(new Set(all).size).toBe(all.length);
        expect(due?.filter((one) => !all.includes(one))).toEqual([]);
        expect(batches).toHaveLength(groupsOf(due ?? []).length);
        for (const batch of batches) {
          const rows = batch.reduce((sum, { selected }) => sum + rowsOf(selected), 0);
          expect(new Set(batch.map(({ selected }) => kindOf(selected.entry))).size).toBe(1);
          expect(batch.length <= 200 && (batch.length === 1 || rows <= 10_000)).toBe(true);
        }
      }),
    );
  });
});

describe('the queries of a batch', () => {
  it.each([
    { what: 'nothing', all: [], is: [] },
    { what: 'both', all: apps(2), is: ['applications', 'hosts'] },
    { what: 'hosts that nobody knows yet', all: [anApp(1, 0)], is: ['applications', 'hosts'] },
    { what: 'applications alone', all: apps(2, 2, { hosts: false }), is: ['applications'] },
    { what: 'hosts alone', all: apps(2, 2, { application: false }), is: ['hosts'] },
    {
      what: 'applications, if nothing is read of hosts',
      all: apps(2, 2, { series: ofScope('applications') }),
      is: ['applications'],
    },
    {
      what: 'hosts, if nothing is read of applications',
      all: apps(2, 2, { series: ofScope('hosts') }),
      is: ['hosts'],
    },
    {
      what: 'both once with all presets',
      all: apps(2, 2, { poll: { metrics: presetNames } }),
      is: ['applications', 'hosts'],
    },
    {
      what: 'both twice with more columns than a query has',
      all: apps(2, 2, { series: manySeries }),
      is: ['applications', 'applications', 'hosts', 'hosts'],
    },
  ])('ask for $what', ({ all, is }) => {
    expect(planOf(all).map(({ subject }) => subject)).toEqual(is);
  });

  it.each([
    { what: 'by their names', selected: anApp(1, 6000) },
    { what: 'blindly, by their number', selected: aNewApp(1, 6000) },
  ])('ask for very many hosts of one application in parts, $what', ({ selected }) => {
    const ofHosts = planOf([selected]).filter(({ subject }) => subject === 'hosts');
    const sizes = ofHosts.map(({ asksFor }) => hostsNamed(6000).filter(asksFor).length);

    expect(ofHosts.map(({ parts }) => parts)).toEqual([4, 4, 4, 4]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6000);
  });

  it('ask for the host of this process by its name only, as it may be written', () => {
    const [, ofHosts] = planOf([anApp(1, 9000, { hosts: self }), anApp(2, 3, { hosts: self })]);

    expect(ofHosts?.condition).toBe("host IN ('Web-1','web-1')");
    expect(['WEB-1', 'web-2'].map((name) => ofHosts?.asksFor(name))).toEqual([true, false]);
    expect([ofHosts?.applicationIds, ofHosts?.parts]).toEqual([['1', '2'], 1]);
  });

  it('are divided as the applications are, those that are divided alike together', () => {
    const division = (id: string): number => ({ '2': 1, '4': 2, '5': 2, '6': 2 })[id] ?? 200;
    const divisionOf: DivisionOf = (_, id) => ({ together: division(id), parts: 1 });
    const plan = [apps(7), divisionOf] as const;
    const ids = [['1', '3', '7'], ['2'], ['4', '5'], ['6']];

    expect(idsOf('applications', ...plan)).toEqual(ids);
    expect(idsOf('hosts', ...plan)).toEqual(ids);
  });

  it.each([
    { what: 'several known hosts', selected: anApp(1, 100), parts: 4 },
    { what: 'hosts that nobody knows yet', selected: aNewApp(1), parts: 4 },
    { what: 'hosts of which New Relic counts none', selected: aNewApp(1, 0), parts: 4 },
    { what: 'one host, which cannot be divided', selected: anApp(1, 1), parts: 1 },
    {
      what: 'the host of this process',
      selected: anApp(1, 100, { hosts: self }),
      parts: 1,
    },
  ])('ask in $parts parts for $what, if so divided', ({ selected, parts }) => {
    const ofHosts = planOf([selected, anApp(2, 1, selected.entry)], (_, id) =>
      id === '1' ? { together: 200, parts: 4 } : undivided,
    ).filter(({ subject, applicationIds }) => subject === 'hosts' && applicationIds.includes('1'));

    expect(ofHosts.length > 1).toBe(parts > 1);
    expect(ofHosts.every((query) => query.parts === ofHosts.length)).toBe(true);
  });

  it('have every application, and each host once, within the sizes', () => {
    fc.assert(
      fc.property(someFleet, someDivisions, (fleet, divisionOf) => {
        for (const batch of groupsOf(asking(fleet))) {
          const queries = queriesOf(batch, divisionOf);
          for (const { selected } of batch) {
            const { id, hostIds = hostsNamed(9) } = selected.application;
            const own = queries.filter(({ applicationIds }) => applicationIds.includes(id));
            const ofHosts = own.filter(({ subject }) => subject === 'hosts');
            const isSelf = hostSelectorOf(selected)?.kind === 'self';
            const perHost = hostIds.map(
              (name) => ofHosts.filter(({ asksFor }) => isSelf || asksFor(name)).length,
            );

            expect(own.length - ofHosts.length).toBe(selected.entry.application ? 1 : 0);
            expect(new Set([...perHost, Number(asksForHosts(selected))]).size).toBe(1);
            for (const { subject, applicationIds } of own) {
              const { together } = divisionOf(subject, id);
              expect(applicationIds.length).toBeLessThanOrEqual(together);
            }
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
