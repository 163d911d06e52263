import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../../src/model/poll-outcome.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import { Answers, SeenMetrics } from '../../../src/newrelic/nerdgraph/answers.ts';
import type { FacetRow } from '../../../src/newrelic/nerdgraph/nrql-answer.ts';
import { type PlannedQuery, queriesOf } from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { anEntry, aSelected, throughputSeries } from '../../support/builders.ts';
import { broken, refused, row } from './a-poll.ts';

const [web, other] = ['HttpDispatcher', 'OtherTransaction/all'];
const window = { fromMs: 300_000, toMs: 600_000 };
const deadline = new ApiError('timeout', 'time is over');

/** What becomes of each query: rows, a failure, or nothing until the deadline. */
type Fate = (query: PlannedQuery, index: number) => readonly FacetRow[] | ApiError | undefined;

interface Options {
  /** Metrics that were seen before, of the application or of a host: such as `a HttpDispatcher`. */
  readonly before?: readonly string[];
  /** In so many parts at least its hosts are asked for. */
  readonly parts?: number;
  readonly askHostNames?: boolean;
}

function aBench(selected: SelectedApplication, fate: Fate, options: Options = {}) {
  const { before = [], parts = 1, askHostNames = false } = options;
  const { id } = selected.application;
  const seen = new SeenMetrics();
  for (const text of before) {
    const [metric = '', host] = text.split(' ').toReversed();
    seen.saw(id, host, metric);
  }
  const invalid: string[] = [];
  const queries = queriesOf([{ selected }], () => ({ together: 200, parts }));
  const answers = new Answers(queries, { seen, onInvalid: (reason) => invalid.push(reason) });
  for (const [index, query] of queries.entries()) {
    const given = fate(query, index);
    if (given instanceof ApiError) answers.failed(query.applicationIds, given);
    else if (given !== undefined && answers.isAbout(window))
      answers.answered(query, { rows: given, window });
  }
  const outcome: PollOutcome = answers.outcome({ selected, askHostNames }, deadline);
  return { answers, outcome, invalid, seen };
}

/** Answers for the application, and for its hosts. */
function fates(application: ReturnType<Fate>, hosts: ReturnType<Fate> = []): Fate {
  return ({ subject }) => (subject === 'applications' ? application : hosts);
}

const shop = aSelected({ hostIds: ['a', 'b', 'c'] });
const none = [undefined, undefined];

function hostsOf({ reading }: PollOutcome): readonly unknown[] {
  return [...(reading?.hosts ?? [])];
}

describe('the values of an application', () => {
  it.each([
    { what: 'calls a minute', rows: [row('1', { web: 50, other: 10 })], before: [], is: [10, 2] },
    { what: 'fractions', rows: [row('1', { web: 1 })], before: [], is: [0.2, undefined] },
    {
      what: '0 for what it has had before, if it is there',
      rows: [row('1', { live: 5 })],
      before: [web],
      is: [0, undefined],
    },
    {
      what: 'nothing for what only a host has had',
      rows: [row('1', { live: 5, web: 5 })],
      before: [`a ${other}`],
      is: [1, undefined],
    },
    { what: 'nothing if it is not there', rows: [], before: [web, other], is: none },
    {
      what: 'its calls without a heartbeat, and no 0',
      rows: [row('1', { web: 5 })],
      before: [other],
      is: [1, undefined],
    },
    {
      what: '0 if New Relic says that there is nothing',
      rows: [{ ...row('1', { live: 5 }), cells: [null, null] }],
      before: [web],
      is: [0, undefined],
    },
    {
      what: 'nothing of what cannot be read',
      rows: [{ ...row('1', { live: 5 }), cells: [undefined, 5] }],
      before: [web],
      is: [undefined, 1],
    },
    { what: 'nothing of other applications', rows: [row('2', { web: 5 })], before: [], is: none },
  ])('are $what', ({ rows, before, is }) => {
    const { outcome } = aBench(shop, fates(rows), { before });

    expect(outcome.reading).toMatchObject({ application: is, windowEndMs: 600_000 });
    expect(outcome).toMatchObject({ failed: new Set(), error: undefined, gone: false });
  });

  it.each([
    { what: 'in the order of its series', scales: [1, 1], isReversed: true, is: [2, 1] },
    { what: 'multiplied by the scale of each', scales: [60, -1], isReversed: false, is: [60, -2] },
    {
      what: 'left out if a scale makes them infinite',
      scales: [1, 1e308],
      isReversed: false,
      is: [1, undefined],
    },
  ])('are $what', ({ scales, isReversed, is }) => {
    const scaled = throughputSeries.map((one, index) => ({ ...one, scale: scales[index] ?? 1 }));
    const series = isReversed ? scaled.toReversed() : scaled;
    const rows = [row('1', { web: 5, other: 10 })];
    const { outcome, invalid } = aBench(aSelected({}, { series }), fates(rows));

    expect(outcome.reading).toMatchObject({ series, application: is });
    expect(invalid).toEqual(is.includes(undefined) ? ['not_finite'] : []);
  });

  it('are never below zero, unless the metric has a unit of its own', () => {
    const series = (['used_mb_by_host', 'average_value'] as const).flatMap((value) =>
      throughputSeries.slice(0, 1).map((one) => ({ ...one, metric: 'Custom/balance', value })),
    );
    const rows = [{ ...row('1', { live: 5 }), cells: [-3] }];
    const { outcome, invalid } = aBench(aSelected({}, { series }), fates(rows));

    expect(outcome.reading?.application).toEqual([undefined, -3]);
    expect(invalid).toEqual(['negative']);
  });

  it('are remembered as metrics that it has, and that each of its hosts has', () => {
    const rows = [row('1', { web: 5 }, 'a')];
    const { seen } = aBench(shop, fates([row('1', { other: 5, live: 5 })], rows));

    expect([seen.has('1', undefined, web), seen.has('1', undefined, other)]).toEqual([false, true]);
    expect([seen.has('1', 'a', web), seen.has('1', 'a', other)]).toEqual([true, false]);
  });
});

describe('the hosts of an application', () => {
  const rows = [row('1', { web: 5 }, 'c'), row('1', { live: 5 }, 'b'), row('1', { web: 5 }, 'new')];

  it('are those of the answer, by name, with 0 for what each has had before', () => {
    const before = [`b ${web}`, `c ${other}`, other, `a ${web}`];
    const { outcome, seen } = aBench(shop, fates([], rows), { before });

    expect(hostsOf(outcome)).toEqual([
      ['b', [0, undefined]],
      ['c', [1, undefined]],
      ['new', [1, undefined]],
    ]);
    expect(outcome).toMatchObject({ hostIds: ['b', 'c', 'new'], partCount: 4, failed: new Set() });
    // What has gone begins anew.
    expect([seen.has('1', 'a', web), seen.has('1', 'b', web)]).toEqual([false, true]);
  });

  it.each([
    { what: 'changed', known: ['a'], askHostNames: false, named: ['b', 'c', 'new'] },
    { what: 'not known', known: undefined, askHostNames: false, named: ['b', 'c', 'new'] },
    { what: 'asked for', known: ['b', 'c', 'new'], askHostNames: true, named: ['b', 'c', 'new'] },
    { what: 'as before', known: ['b', 'c', 'new'], askHostNames: false, named: undefined },
  ])('have their names for ids, which are told if $what', ({ known, askHostNames, named }) => {
    const selected = aSelected({ hostIds: known });
    const { outcome } = aBench(selected, fates([], rows), { askHostNames });

    expect(outcome.hostNames).toEqual(named && new Map(named.map((name) => [name, name])));
    expect(outcome.hostIds === known).toBe(known?.length === 3);
  });

  it('are chosen by their names, but all are known', () => {
    const selected = aSelected({ hostIds: ['a'] }, { hosts: { kind: 'match', pattern: /^[bn]/u } });
    const { outcome } = aBench(selected, fates([], rows));

    expect([...(outcome.reading?.hosts.keys() ?? [])]).toEqual(['b', 'new']);
    expect(outcome).toMatchObject({ hostIds: ['b', 'c', 'new'], partCount: 3 });
  });

  it.each([
    { what: 'known ones', known: ['a', 'c'], is: ['a', 'c', 'Me'] },
    { what: 'unknown ones', known: undefined, is: undefined },
  ])('that are $what stay so if only the own one is asked for', ({ known, is }) => {
    const selected = aSelected({ hostIds: known }, { hosts: { kind: 'self', names: ['me'] } });
    const { outcome } = aBench(selected, fates([], [row('1', { web: 5 }, 'Me')]));

    expect(hostsOf(outcome)).toEqual([['Me', [1, undefined]]]);
    expect(outcome.hostIds).toEqual(is);
  });
});

describe('a part that did not arrive', () => {
  const own = [row('1', { web: 5 })];
  const some = [row('1', { web: 5 }, 'a')];
  const nobody = aSelected({ hostIds: [] });
  const unknown = aSelected({ hostIds: undefined });
  const matching = aSelected({ hostIds: ['a', 'b'] }, { hosts: { kind: 'match', pattern: /b/u } });

  it.each([
    { what: 'of known hosts', selected: shop, fate: fates(own, broken), failed: ['a', 'b', 'c'] },
    { what: 'of no hosts', selected: nobody, fate: fates(own, broken), failed: [hostsScope] },
    { what: 'of unknown hosts', selected: unknown, fate: fates(own, broken), failed: [hostsScope] },
    { what: 'of chosen hosts', selected: matching, fate: fates(own, broken), failed: ['b'] },
    {
      what: 'of the application',
      selected: shop,
      fate: fates(broken, some),
      failed: [applicationScope],
    },
  ])('$what takes nothing from the other', ({ selected, fate, failed }) => {
    const { outcome } = aBench(selected, fate);
    const isOwn = !failed.includes(applicationScope);

    expect(outcome).toMatchObject({ failed: new Set(failed), error: broken, unauthorized: false });
    expect(outcome.reading?.application).toEqual(isOwn ? [1, undefined] : []);
    expect(hostsOf(outcome)).toEqual(isOwn ? [] : [['a', [1, undefined]]]);
    expect(outcome.hostIds).toEqual(isOwn ? selected.application.hostIds : ['a']);
  });

  it.each([
    { what: 'the first failure', fate: fates(broken, deadline), error: broken },
    { what: 'a refused key, whatever failed before', fate: fates(broken, refused), error: refused },
    { what: 'the deadline', fate: () => undefined, error: deadline },
    {
      what: 'a failure before the deadline',
      fate: ({ subject }) => (subject === 'hosts' ? broken : undefined),
      error: broken,
    },
  ] satisfies readonly { what: string; fate: Fate; error: ApiError }[])(
    'has failed for $what',
    ({ fate, error }) => {
      expect(aBench(shop, fate).outcome).toMatchObject({
        reading: undefined,
        error,
        failed: new Set([applicationScope, 'a', 'b', 'c']),
        partCount: 4,
        unauthorized: error === refused,
      });
    },
  );
});

describe('hosts that are asked for in parts', () => {
  const names = ['web-0', 'web-1', 'web-2', 'web-3'];
  const named = (hostIds: readonly string[] | undefined, pattern = /^/u): SelectedApplication =>
    aSelected({ hostIds }, { hosts: { kind: 'match', pattern }, application: false });
  /** The part with `web-1` fails. The others have another host each. */
  const fate: Fate = ({ asksFor }, index) =>
    asksFor('web-1')
      ? broken
      : [...names, `new-${index}`]
          .filter((name) => asksFor(name))
          .map((name) => row('1', { web: 5 }, name));

  it('fail only where their part did, the known ones by name', () => {
    const { outcome } = aBench(named(names), fate, { parts: 4 });

    expect([...(outcome.reading?.hosts.keys() ?? [])]).toEqual(
      expect.arrayContaining(['web-0', 'web-2', 'web-3']),
    );
    expect(outcome).toMatchObject({ failed: new Set(['web-1']), error: broken });
    expect(outcome.hostIds).toEqual(expect.arrayContaining(names));
  });

  it.each([
    { what: 'if none of that part were known', selected: named(undefined) },
    { what: 'if none that are known were chosen', selected: named(names, /2/u) },
  ])('say that some are missing $what', ({ selected }) => {
    const { outcome } = aBench(selected, fate, { parts: 4 });

    expect(outcome).toMatchObject({ failed: new Set([hostsScope]), error: broken });
    expect(outcome.reading?.hosts.has('web-2')).toBe(true);
  });
});

describe('values of several queries', () => {
  const series = Array.from({ length: 40 }, (_, index) => index + 10).flatMap((number) =>
    throughputSeries.slice(0, 1).map((one) => ({ ...one, metric: `C/${number}` })),
  );
  const cells = (value: number, count = 40): readonly number[] =>
    Array.from({ length: count }, () => value);
  const selected = aSelected({ hostIds: ['a'] }, { series });
  const all: Fate = ({ subject, columns }) => [
    {
      ...row('1', {}, subject === 'hosts' ? 'a' : undefined),
      cells: cells(columns.length > 13 ? 5 : 10),
    },
  ];

  it.each([
    { what: 'the application', fails: 0, failed: applicationScope },
    { what: 'the application, the second time', fails: 1, failed: applicationScope },
    { what: 'its hosts', fails: 2, failed: 'a' },
    { what: 'its hosts, the second time', fails: 3, failed: 'a' },
  ])('have failed if one of the queries about $what has', ({ fails, failed }) => {
    const { outcome } = aBench(selected, (query, index) =>
      index === fails ? broken : all(query, index),
    );

    expect(outcome).toMatchObject({ failed: new Set([failed]), error: broken });
    expect(outcome.reading?.application.length).toBe(fails < 2 ? 0 : 40);
    expect(outcome.reading?.hosts.size).toBe(fails < 2 ? 1 : 0);
  });
});

describe('an application without a heartbeat', () => {
  it.each([
    { what: 'has calls, but no heartbeat', rows: [row('1', { web: 5 })], is: true },
    { what: 'has both', rows: [row('1', { web: 5, live: 5 })], is: false },
    { what: 'has nothing at all', rows: [], is: false },
  ])('$what: $is', ({ rows, is }) => {
    const { answers } = aBench(aSelected({}, { series: anEntry().series }), fates(rows));

    expect(answers.isWithoutHeartbeat('1')).toBe(is);
    expect(answers.isWithoutHeartbeat('2')).toBe(false);
  });
});
