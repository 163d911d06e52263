import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MetricScope, PolledSeries } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import {
  hostSelectorOf,
  type SelectedApplication,
} from '../../../src/model/selected-application.ts';
import type { Question } from '../../../src/model/source.ts';
import {
  asksForHosts,
  type Division,
  groupsOf,
  type PlannedQuery,
  plannedQueries,
  questionKind,
  rowsOf,
  undivided,
} from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { aQuery, aSelected, throughputSeries } from '../../support/builders.ts';
import { hostsNamed, someDivisions, someFleet } from './some-fleet.ts';

type Entry = Parameters<typeof aSelected>[1];

function anApp(id: number, hosts: number, entry: Entry = {}): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds: hostsNamed(hosts) }, entry);
}

/** An application whose hosts no poll has named yet. */
function aNewApp(id: number, hostCount?: number): SelectedApplication {
  return aSelected({ id: `${id}`, hostIds: undefined, hostCount });
}

function apps(count: number, hosts = 2, entry: Entry = {}): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, index) => anApp(index + 1, hosts, entry));
}

function asking(all: readonly SelectedApplication[]) {
  return all.map((selected) => ({ kind: 'application' as const, selected }));
}

function planOf(
  all: readonly SelectedApplication[],
  divisionOf: (id: string) => Division = () => undivided,
): readonly PlannedQuery[] {
  return plannedQueries(asking(all), () => divisionOf);
}

function ofScope(scope: MetricScope): { readonly series: readonly PolledSeries[] } {
  return { series: throughputSeries.map((one) => ({ ...one, scope })) };
}

const manySeries = throughputSeries
  .slice(0, 1)
  .flatMap((one) => [...Array(33).keys()].map((at) => ({ ...one, metric: `Custom/${at}` })));
const even = { hosts: { kind: 'match', pattern: /[02468]$/u } } as const;
const self = { hosts: { kind: 'self', names: ['Web-1'] } } as const;
const allPresets = { poll: { metrics: presetNames } };

describe('the rows of an application', () => {
  it.each([
    ['known hosts', anApp(1, 10), 10],
    ['all presets', anApp(1, 10, allPresets), 10],
    ['hosts that are chosen on our side', anApp(1, 10, even), 10],
    ['the host of this process', anApp(1, 10, self), 1],
    ['hosts that New Relic counts', aNewApp(1, 7), 7],
    ['hosts that nobody has counted', aNewApp(1), 20],
    ['no hosts so far', anApp(1, 0), 1],
    ['hosts that nobody wants', anApp(1, 10, { hosts: false }), 0],
    ['hosts of which nothing is read', anApp(1, 10, ofScope('applications')), 0],
  ])('with %s are counted', (_, selected, rows) => {
    expect(rowsOf(selected)).toBe(rows);
  });
});

describe('groups', () => {
  it.each<[string, Entry, number]>([
    ['another interval', { poll: { intervalMs: 120_000 } }, 2],
    ['other metrics', allPresets, 2],
    ['only the host of this process', self, 2],
    ['the same metrics in another order', { series: throughputSeries.toReversed() }, 1],
    ['only some of the hosts', even, 1],
    ['other labels', { labels: { team: 'payments' } }, 1],
    ['another time to hold values', { poll: { staleAfterMs: 60_000 } }, 1],
  ])('of applications of which one has %s are as many as their kinds', (_, entry, count) => {
    expect(groupsOf(asking([anApp(1, 2), anApp(2, 2, entry)]))).toHaveLength(count);
  });

  it('are one for each query that is due, and none for others', () => {
    const asked = ['a', 'b'].map(
      (name): Question => ({ kind: 'query', query: { ...aQuery, name } }),
    );
    const due = [...asked, ...asking(apps(1))];

    expect(groupsOf(due, asked)).toEqual(due.map((one) => [one]));
  });

  it('are others for what is apart, and each is filled up with its own only', () => {
    const [due, early] = [asking(apps(4)), asking(apps(8)).slice(4)];
    const apart = new Set(['2', '3', '6']);
    const idsIn = (group: readonly Question[]) =>
      group.map((one) => (one.kind === 'query' ? '' : one.selected.application.id));

    expect(groupsOf(due, early, apart).map(idsIn)).toEqual([
      ['1', '4', '5', '7', '8'],
      ['2', '3', '6'],
    ]);
  });

  it('have every application that is due in one of them, of its kind, within the size', () => {
    fc.assert(
      fc.property(someFleet, fc.nat(40), (fleet, middle) => {
        const [due, early] = [asking(fleet.slice(0, middle)), asking(fleet.slice(middle))];
        const groups = groupsOf(due, early);
        const all = groups.flat();

        expect(new Set(all).size).toBe(all.length);
        expect(due.filter((one) => !all.includes(one))).toEqual([]);
        expect(groups).toHaveLength(groupsOf(due).length);
        for (const group of groups) {
          const rows = group.reduce((sum, { selected }) => sum + rowsOf(selected), 0);
          expect(new Set(group.map(({ selected }) => questionKind(selected.entry))).size).toBe(1);
          expect(group.length <= 200 && (group.length === 1 || rows <= 10_000)).toBe(true);
        }
      }),
    );
  });
});

describe('the queries of a group', () => {
  it.each<[string, readonly SelectedApplication[], string]>([
    ['nothing', [], ''],
    ['both', apps(2), 'applications hosts'],
    ['hosts that nobody knows yet', [anApp(1, 0)], 'applications hosts'],
    ['applications alone', apps(2, 2, { hosts: false }), 'applications'],
    ['hosts alone', apps(2, 2, { application: false }), 'hosts'],
    ['no hosts of which nothing is read', apps(2, 2, ofScope('applications')), 'applications'],
    ['no applications of which nothing is read', apps(2, 2, ofScope('hosts')), 'hosts'],
    ['both once with all presets', apps(2, 2, allPresets), 'applications hosts'],
    [
      'both twice with many columns',
      apps(2, 2, { series: manySeries }),
      'applications applications hosts hosts',
    ],
  ])('ask for %s', (_, all, subjects) => {
    expect(
      planOf(all)
        .map(({ subject }) => subject)
        .join(' '),
    ).toBe(subjects);
  });

  it.each([
    ['by their names', anApp(1, 6000)],
    ['blindly, by their number', aNewApp(1, 6000)],
  ])('ask for very many hosts of one application in parts, %s', (_, selected) => {
    const ofHosts = planOf([selected]).filter(({ subject }) => subject === 'hosts');
    const sizes = ofHosts.map(({ asksFor }) => hostsNamed(6000).filter(asksFor).length);

    expect(ofHosts.map(({ parts }) => parts)).toEqual([4, 4, 4, 4]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6000);
  });

  it('ask for the host of this process by its name only, as it may be written', () => {
    const [, ofHosts] = planOf([anApp(1, 9000, self), anApp(2, 3, self)]);

    expect(ofHosts).toMatchObject({
      condition: "host IN ('Web-1','web-1')",
      applicationIds: ['1', '2'],
      parts: 1,
    });
    expect(['WEB-1', 'web-2'].map((name) => ofHosts?.asksFor(name))).toEqual([true, false]);
  });

  it('are divided as the applications are, those that are divided alike together', () => {
    const together: Readonly<Record<string, number>> = { '2': 1, '4': 2, '5': 2, '6': 2 };
    const plan = planOf(apps(7), (id) => ({ ...undivided, together: together[id] ?? 200 }));
    const ids = [['1', '3', '7'], ['2'], ['4', '5'], ['6']];

    expect(plan.map(({ applicationIds }) => applicationIds)).toEqual([...ids, ...ids]);
  });

  it('are apart from each other where some are asked again, and some later', () => {
    const times: Readonly<Record<string, Division['when']>> = {
      '2': 'again',
      '3': 'later',
      '4': 'again',
    };
    const plan = planOf(apps(5), (id) => ({ ...undivided, when: times[id] ?? 'usual' }));
    const seen = plan.map(({ applicationIds, when }) => [when, ...applicationIds]);
    const wanted = [
      ['usual', '1', '5'],
      ['again', '2', '4'],
      ['later', '3'],
    ];

    expect(seen).toEqual([...wanted, ...wanted]);
  });

  it.each([
    ['several known hosts', anApp(1, 100), true],
    ['hosts that nobody knows yet', aNewApp(1), true],
    ['hosts of which New Relic counts none', aNewApp(1, 0), true],
    ['one host, which cannot be divided', anApp(1, 1), false],
    ['the host of this process', anApp(1, 100, self), false],
  ])('ask in parts for %s, if that may help', (_, selected, isDivided) => {
    const all = [selected, anApp(2, 1, selected.entry)];
    const plan = planOf(all, (id) => ({ ...undivided, together: id === '1' ? 1 / 4 : 200 }));
    const ofHosts = plan.filter(
      ({ subject, applicationIds }) => subject === 'hosts' && applicationIds.includes('1'),
    );

    expect(ofHosts.length > 1).toBe(isDivided);
    expect(ofHosts.every(({ parts }) => parts === ofHosts.length)).toBe(true);
  });

  it('have every application, and each host once, within the sizes', () => {
    fc.assert(
      fc.property(someFleet, someDivisions, (fleet, divisionOf) => {
        for (const group of groupsOf(asking(fleet))) {
          const queries = plannedQueries(group, () => divisionOf);
          for (const { selected } of group) {
            const { id, hostIds = hostsNamed(9) } = selected.application;
            const own = queries.filter(({ applicationIds }) => applicationIds.includes(id));
            const ofHosts = own.filter(({ subject }) => subject === 'hosts');
            const isSelf = hostSelectorOf(selected)?.kind === 'self';
            const perHost = hostIds.map(
              (name) => ofHosts.filter(({ asksFor }) => isSelf || asksFor(name)).length,
            );

            expect(own.length - ofHosts.length).toBe(selected.entry.application ? 1 : 0);
            expect(new Set([...perHost, Number(asksForHosts(selected))]).size).toBe(1);
            for (const { applicationIds } of own) {
              expect(applicationIds.length).toBeLessThanOrEqual(
                Math.max(1, divisionOf(id).together),
              );
            }
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
