import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationFacets,
  hostCondition,
  hostFacets,
  liveColumns,
  type MetricColumn,
  metricsNrql,
  nrqlText,
} from '../../../src/newrelic/nerdgraph/nrql.ts';
import { parseNrql } from '../../../src/simulator/nrql-parser.ts';
import { NrqlRowSet } from '../../../src/simulator/nrql-row.ts';
import { evenTimeslice } from '../../../src/simulator/timeslice.ts';
import { slow } from '../../support/slow.ts';

const oneCall = evenTimeslice(1, 0.1);
const question = {
  applicationIds: ['1', '22'],
  window: { fromMs: 1_760_000_400_000, toMs: 1_760_002_200_000 },
};
const web: MetricColumn = { name: 'c1', metric: 'HttpDispatcher', of: 'count' };
const time: MetricColumn = { name: 'c2', metric: 'HttpDispatcher', of: 'average' };
const apdex: MetricColumn = { name: 'c3', metric: 'Apdex', of: 'exclusive_sum' };
const ofApplications = { ...question, facets: applicationFacets, columns: [web] } as const;
const ofHosts = { ...question, facets: hostFacets, columns: [web] } as const;

const value = 'newrelic.timeslice.value';
const text = (of: string, metric: string, name: string): string =>
  `filter(${of}, WHERE metricTimesliceName = '${metric}') AS ${name}`;
const heartbeat = 'Agent/MetricsReported/count';
const head = `SELECT count(${value}) AS calls, ${text(`count(${value})`, heartbeat, 'live')}, `;
const webText = text(`count(${value})`, 'HttpDispatcher', 'c1');
const timeText = text(`average(${value})`, 'HttpDispatcher', 'c2');
const apdexText = text(`sum(${value}['totalExclusive'])`, 'Apdex', 'c3');
const otherText = text(`count(${value})`, 'OtherTransaction/all', 'c2');
const chosen = 'appId IN (1,22) AND metricTimesliceName IN';
const tail = 'LIMIT 5000 SINCE 1760000400000 UNTIL 1760002200000';
const some = hostCondition(["O'Brien", 'b', 'b']);

describe('a query about', () => {
  it.each<[string, Parameters<typeof metricsNrql>[0], columns: string, where: string]>([
    [
      'applications',
      ofApplications,
      webText,
      `${chosen} ('HttpDispatcher','${heartbeat}') FACET appId`,
    ],
    [
      'several values',
      { ...ofApplications, columns: [web, time, apdex] },
      [webText, timeText, apdexText].join(', '),
      `${chosen} ('HttpDispatcher','Apdex','${heartbeat}') FACET appId`,
    ],
    [
      'all hosts',
      ofHosts,
      webText,
      `host IS NOT NULL AND ${chosen} ('HttpDispatcher','${heartbeat}') FACET appId, host`,
    ],
    [
      'some hosts',
      { ...ofHosts, condition: some },
      webText,
      `host IS NOT NULL AND ${chosen} ('HttpDispatcher','${heartbeat}') AND host IN ('O\\'Brien','o\\'brien','b') FACET appId, host`,
    ],
    [
      'the hosts that are there',
      { ...ofHosts, columns: liveColumns },
      `${webText}, ${otherText}`,
      `host IS NOT NULL AND ${chosen} ('HttpDispatcher','OtherTransaction/all','${heartbeat}') FACET appId, host`,
    ],
  ])('%s states its window, its limit and its applications', (_, asked, columns, where) => {
    const nrql = metricsNrql(asked);
    const query = parseNrql(nrql);

    expect(nrql).toBe(`${head}${columns} FROM Metric WHERE ${where} ${tail}`);
    // Another parser reads it as it is meant.
    expect(query).toMatchObject({
      limit: 5000,
      since: { kind: 'at', timeMs: question.window.fromMs },
      until: { kind: 'at', timeMs: question.window.toMs },
    });
    const names = asked.columns.map(({ name }) => name);
    expect(query.select.map(({ name }) => name)).toEqual(['calls', 'live', ...names]);
  });
});

describe('a text of NRQL', () => {
  it('is read as the same text, whatever is in it', slow, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const nrql = metricsNrql({ ...ofHosts, condition: `host IN (${nrqlText(any)})` });
        const { where } = parseNrql(nrql);
        const metricTimesliceName = 'Agent/MetricsReported/count';
        const isMeant = (host: string): boolean | undefined => {
          const attributes = new Map(Object.entries({ appId: '1', metricTimesliceName, host }));
          return where?.verdict({ attribute: (name) => attributes.get(name) });
        };

        expect([isMeant(any), isMeant(`${any}.`)]).toEqual([true, false]);
      }),
    );
  });

  it('is the name of a metric, whatever is in that', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (metric) => {
        const { select: columns } = parseNrql(
          metricsNrql({ ...ofApplications, columns: [{ ...web, metric }] }),
        );
        const column = columns.find(({ name }) => name === 'c1');
        const countOf = (name: string): unknown => {
          const row = { attribute: () => name, timeslice: () => oneCall, records: () => 1 };
          return column?.cellOf(new NrqlRowSet([row]), 1);
        };

        expect([countOf(metric), countOf(`${metric}.`)]).toEqual([1, 0]);
      }),
    );
  });
});
