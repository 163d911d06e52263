import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationFacets,
  type Column,
  hostCondition,
  hostFacets,
  liveColumns,
  metricsNrql,
  nrqlText,
} from '../../../src/newrelic/nerdgraph/nrql.ts';
import { parseNrql } from '../../../src/simulator/nrql-parser.ts';

const question = {
  applicationIds: ['1', '22'],
  window: { fromMs: 1_760_000_400_000, toMs: 1_760_002_200_000 },
};
const tail = 'LIMIT 5000 SINCE 1760000400000 UNTIL 1760002200000';
const value = 'newrelic.timeslice.value';
const calls = `SELECT count(${value}) AS calls`;
const chosen = 'appId IN (1,22) AND metricTimesliceName IN';
const live = `filter(count(${value}), WHERE metricTimesliceName = 'Agent/MetricsReported/count') AS live`;
const web: Column = { name: 'c1', metric: 'HttpDispatcher', of: 'count' };
const webText = `filter(count(${value}), WHERE metricTimesliceName = 'HttpDispatcher') AS c1`;
const time: Column = { name: 'c2', metric: 'HttpDispatcher', of: 'average' };
const timeText = `filter(average(${value}), WHERE metricTimesliceName = 'HttpDispatcher') AS c2`;
const apdex: Column = { name: 'c3', metric: 'Apdex', of: 'exclusive_sum' };
const apdexText = `filter(sum(${value}['totalExclusive']), WHERE metricTimesliceName = 'Apdex') AS c3`;
const otherText = `filter(count(${value}), WHERE metricTimesliceName = 'OtherTransaction/all') AS c2`;
const heartbeat = "'Agent/MetricsReported/count'";

const ofApplications = { ...question, facets: applicationFacets } as const;
const ofHosts = { ...question, facets: hostFacets, columns: [web] } as const;

/** Each kind of query, with how it is written. */
const texts = [
  {
    what: 'applications',
    nrql: metricsNrql({ ...ofApplications, columns: [web] }),
    columns: ['live', 'c1'],
    is: `${calls}, ${live}, ${webText} FROM Metric WHERE ${chosen} ('HttpDispatcher',${heartbeat}) FACET appId ${tail}`,
  },
  {
    what: 'applications and several values',
    nrql: metricsNrql({ ...ofApplications, columns: [web, time, apdex] }),
    columns: ['live', 'c1', 'c2', 'c3'],
    is: `${calls}, ${live}, ${webText}, ${timeText}, ${apdexText} FROM Metric WHERE ${chosen} ('HttpDispatcher','Apdex',${heartbeat}) FACET appId ${tail}`,
  },
  {
    what: 'all hosts',
    nrql: metricsNrql(ofHosts),
    columns: ['live', 'c1'],
    is: `${calls}, ${live}, ${webText} FROM Metric WHERE host IS NOT NULL AND ${chosen} ('HttpDispatcher',${heartbeat}) FACET appId, host ${tail}`,
  },
  {
    what: 'some hosts',
    nrql: metricsNrql({ ...ofHosts, condition: hostCondition(["O'Brien", 'b', 'b']) }),
    columns: ['live', 'c1'],
    is: `${calls}, ${live}, ${webText} FROM Metric WHERE host IS NOT NULL AND ${chosen} ('HttpDispatcher',${heartbeat}) AND host IN ('O\\'Brien','o\\'brien','b') FACET appId, host ${tail}`,
  },
  {
    what: 'the hosts that are there',
    nrql: metricsNrql({ ...ofHosts, columns: liveColumns }),
    columns: ['live', 'c1', 'c2'],
    is: `${calls}, ${live}, ${webText}, ${otherText} FROM Metric WHERE host IS NOT NULL AND ${chosen} ('HttpDispatcher','OtherTransaction/all',${heartbeat}) FACET appId, host ${tail}`,
  },
] as const;

describe('a query about', () => {
  it.each(texts)('$what states its window, its limit and its applications', ({ nrql, is }) => {
    expect(nrql).toBe(is);
  });

  it.each(texts)('$what is read by another parser as it is meant', ({ nrql, columns }) => {
    const query = parseNrql(nrql);

    expect(query).toMatchObject({
      limit: 5000,
      since: { kind: 'at', timeMs: question.window.fromMs },
      until: { kind: 'at', timeMs: question.window.toMs },
    });
    expect(query.select.map(({ name }) => name)).toEqual(['calls', ...columns]);
  });
});

describe('nrqlText', () => {
  it.each([
    ['web-1', "'web-1'"],
    ["o'brien", String.raw`'o\'brien'`],
    [String.raw`dc\web`, String.raw`'dc\\web'`],
    [String.raw`\'`, String.raw`'\\\''`],
    ['', "''"],
  ])('quotes %j', (text, quoted) => {
    expect(nrqlText(text)).toBe(quoted);
  });

  it('is read as the same text, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const nrql = metricsNrql({ ...ofHosts, condition: `host IN (${nrqlText(text)})` });
        const { where } = parseNrql(nrql);
        const values = where?.kind === 'and' && where.right.kind === 'in' ? where.right.values : [];

        expect(values).toEqual([text]);
      }),
    );
  });

  it('is the name of a metric, whatever is in that', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (metric) => {
        const { select: columns } = parseNrql(
          metricsNrql({ ...ofApplications, columns: [{ ...web, metric }] }),
        );
        const column = columns.find(({ name }) => name === 'c1')?.value;

        expect(column?.kind === 'filter' && column.condition).toEqual({
          kind: 'compare',
          attribute: 'metricTimesliceName',
          operator: '=',
          value: metric,
        });
      }),
    );
  });
});
