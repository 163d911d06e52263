import { describe, expect, it } from 'vitest';
import { BatchAnswers } from '../../src/nerdgraph/batch-answers.ts';
import { type ColumnSet, columnsOf } from '../../src/nerdgraph/column-sets.ts';
import { allHosts, namedHosts } from '../../src/nerdgraph/host-partition.ts';
import {
  applicationsQuery,
  hostsQuery,
  type Query,
  recordedMetricsQuery,
} from '../../src/nerdgraph/queries.ts';
import { createRecordedMetrics } from '../../src/nerdgraph/recorded-metrics.ts';
import { anEntry } from '../support/builders.ts';
import { row } from './a-batch.ts';
import { hostsNamed } from './some-fleet.ts';

const window = { fromMs: 1_760_000_400_000, toMs: 1_760_002_200_000 };
const dayMs = 24 * 3_600_000;
const recorded = createRecordedMetrics();
const { series } = anEntry();
const columns = columnsOf(series);
const [ofApplications, ofHosts] = [columns.applications, columns.hosts].map(([only]) => {
  if (only === undefined) throw new Error('there is one set of each');
  return only;
}) as [ColumnSet, ColumnSet];
const answers = new BatchAnswers(columns, { recorded, onInvalid: () => undefined });
const metrics = ['HttpDispatcher', 'OtherTransaction/all'];

function hostsOf(...names: readonly (readonly string[])[]): Query {
  const asked = names.map((some, index) => ({ id: `${index + 1}`, names: some }));
  return hostsQuery({ asked, columns: ofHosts, subset: allHosts }, { answers });
}

/** What becomes of a query that is halved again and again: the parts that cannot be divided. */
function leavesOf(query: Query): readonly Query[] {
  const halves = query.halves();
  return halves === undefined ? [query] : halves.flatMap(leavesOf);
}

describe('a query about applications', () => {
  const query = applicationsQuery(['1', '2', '3'], ofApplications, { answers });

  it('is as large as the number of applications', () => {
    expect(query).toMatchObject({ operation: 'application_metrics', size: { applications: 3 } });
    expect(query.nrql(window)).toContain(
      "appId IN (1,2,3) AND metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all','Agent",
    );
    expect(query.windowOf(window)).toEqual(window);
  });

  it('is halved down to single applications', () => {
    expect(query.halves()?.map(({ applicationIds }) => applicationIds)).toEqual([
      ['1', '2'],
      ['3'],
    ]);
    expect(leavesOf(query).map(({ applicationIds }) => applicationIds)).toEqual([
      ['1'],
      ['2'],
      ['3'],
    ]);
  });
});

describe('a query about recorded metrics', () => {
  const query = recordedMetricsQuery(['1', '2'], metrics, { recorded });

  it('is about the day before, and says nothing about the size of others', () => {
    expect(query).toMatchObject({ isOnce: true, mayShift: true, size: undefined });
    expect(query.windowOf(window)).toEqual({ fromMs: window.toMs - dayMs, toMs: window.toMs });
    expect(query.nrql(window)).toContain(`SINCE ${window.toMs - dayMs} UNTIL ${window.toMs}`);
  });

  it('tells which metrics there are, and that it was asked', () => {
    const rows = [
      { ...row('1', {}), metric: 'OtherTransaction/all', calls: 1 },
      { ...row('1', {}), metric: undefined, calls: 1 },
    ];
    query.answered({ rows, isTruncated: false, window });

    expect(metrics.map((metric) => recorded.has('1', metric))).toEqual([false, true]);
    expect(['1', '2', '3'].map((id) => recorded.isKnown(id, metrics))).toEqual([true, true, false]);
  });

  it('is halved into queries of its kind, by applications first and then by metrics', () => {
    const leaves = leavesOf(query);

    expect(leaves.map(({ isOnce, size }) => [isOnce, size])).toEqual(
      leaves.map(() => [true, undefined]),
    );
    expect(leaves.map((leaf) => /appId IN (.*) FACET/u.exec(leaf.nrql(window))?.[1])).toEqual([
      "(1) AND metricTimesliceName IN ('HttpDispatcher')",
      "(1) AND metricTimesliceName IN ('OtherTransaction/all')",
      "(2) AND metricTimesliceName IN ('HttpDispatcher')",
      "(2) AND metricTimesliceName IN ('OtherTransaction/all')",
    ]);
  });
});

describe('a query about hosts', () => {
  it('is as large as its rows, one for each host, whatever is read', () => {
    expect(hostsOf(['a', 'b'], ['c'])).toMatchObject({
      operation: 'host_metrics',
      size: { rows: 3 },
      applicationIds: ['1', '2'],
    });
  });

  it('is halved by applications first, each half with its own rows', () => {
    const halves = hostsOf(hostsNamed(1300), ['a'], ['b']).halves() ?? [];

    expect(halves.map(({ applicationIds, size }) => [applicationIds, size])).toEqual([
      [['1', '2'], { rows: 1301 }],
      [['3'], { rows: 1 }],
    ]);
  });

  it('is halved by hosts if it is about one application', () => {
    const halves = hostsOf(hostsNamed(100)).halves() ?? [];
    const rows = halves.map(({ size }) => size?.rows ?? 0);

    expect(halves.map((half) => half.nrql(window).includes('RLIKE'))).toEqual([true, true]);
    expect(rows.reduce((sum, some) => sum + some, 0)).toBe(100);
    expect(Math.min(...rows)).toBeGreaterThan(30);
  });

  it.each([
    { what: 'of numbers', names: hostsNamed(37) },
    { what: 'of a domain', names: hostsNamed(37).map((name) => `${name}.example.com`) },
    { what: 'that no condition divides', names: ['-', '.', '_', '!', '-.', '.-'] },
  ])('is halved down to single hosts $what', ({ names }) => {
    const leaves = leavesOf(hostsOf(names));

    expect(leaves.map(({ size }) => size)).toEqual(names.map(() => ({ rows: 1 })));
  });

  it('is halved by names if it asks by names', () => {
    const subset = namedHosts(['c', 'a', 'b']);
    const query = hostsQuery(
      { asked: [{ id: '1', names: ['a', 'b', 'c'] }], columns: ofHosts, subset },
      { answers },
    );

    expect(
      query.halves()?.map((half) => /host IN \([^)]*\)/u.exec(half.nrql(window))?.[0]),
    ).toEqual(["host IN ('a','b')", "host IN ('c')"]);
  });

  it('about a single host cannot be halved', () => {
    expect(hostsOf(['a']).halves()).toBeUndefined();
    expect(hostsOf([]).halves()).toBeUndefined();
  });
});
