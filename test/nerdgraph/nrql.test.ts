import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationsNrql,
  hostsNrql,
  liveHostsNrql,
  nrqlText,
  recordedMetricsNrql,
} from '../../src/nerdgraph/nrql.ts';
import { parseNrql } from '../../src/simulator/nrql-parser.ts';

const question = {
  applicationIds: ['1', '22'],
  window: { fromMs: 1_760_000_400_000, toMs: 1_760_002_200_000 },
};
const tail = 'LIMIT 5000 SINCE 1760000400000 UNTIL 1760002200000';
const from = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric WHERE';
const chosen = 'appId IN (1,22) AND metricTimesliceName IN';
const select = `${from} ${chosen}`;
const selectHosts = `${from} host IS NOT NULL AND ${chosen}`;
const all = "('HttpDispatcher','OtherTransaction/all','Agent/MetricsReported/count')";
const heartbeat = "'Agent/MetricsReported/count'";

/** Each kind of query, with how it is written. */
const texts = [
  {
    what: 'applications',
    nrql: applicationsNrql(question, ['web', 'other']),
    is: `${select} ${all} FACET appId, metricTimesliceName ${tail}`,
  },
  {
    what: 'applications and one type of transactions',
    nrql: applicationsNrql(question, ['other']),
    is: `${select} ('OtherTransaction/all',${heartbeat}) FACET appId, metricTimesliceName ${tail}`,
  },
  {
    what: 'all hosts',
    nrql: hostsNrql(question, ['web'], undefined),
    is: `${selectHosts} ('HttpDispatcher',${heartbeat}) FACET appId, host, metricTimesliceName ${tail}`,
  },
  {
    what: 'some hosts',
    nrql: hostsNrql(question, ['web', 'other'], "host IN ('a')"),
    is: `${selectHosts} ${all} AND host IN ('a') FACET appId, host, metricTimesliceName ${tail}`,
  },
  {
    what: 'the hosts that are there',
    nrql: liveHostsNrql(question, undefined),
    is: `${selectHosts} ${all} FACET appId, host ${tail}`,
  },
  {
    what: 'some of the hosts that are there',
    nrql: liveHostsNrql(question, "host NOT RLIKE r'.*[01]'"),
    is: `${selectHosts} ${all} AND host NOT RLIKE r'.*[01]' FACET appId, host ${tail}`,
  },
  {
    what: 'recorded metrics',
    nrql: recordedMetricsNrql(question),
    is: `${select} ('HttpDispatcher','OtherTransaction/all') FACET appId, metricTimesliceName ${tail}`,
  },
] as const;

describe('a query about', () => {
  it.each(texts)('$what states its window, its limit and its applications', ({ nrql, is }) => {
    expect(nrql).toBe(is);
  });

  it.each(texts)('$what is read by another parser as it is meant', ({ nrql }) => {
    const query = parseNrql(nrql);

    expect(query).toMatchObject({
      limit: 5000,
      since: { kind: 'at', timeMs: question.window.fromMs },
      until: { kind: 'at', timeMs: question.window.toMs },
    });
    expect(query.select.map(({ name }) => name)).toEqual(['calls']);
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
        const nrql = hostsNrql(question, ['web'], `host IN (${nrqlText(text)})`);
        const { where } = parseNrql(nrql);
        const values = where?.kind === 'and' && where.right.kind === 'in' ? where.right.values : [];

        expect(values).toEqual([text]);
      }),
    );
  });
});
