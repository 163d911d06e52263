import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount, type NerdgraphAccount } from './nerdgraph-account.ts';

const fromMs = Date.UTC(2026, 8, 1, 9, 50);
const untilMs = Date.UTC(2026, 8, 1, 9, 55);
const range = `SINCE ${fromMs} UNTIL ${untilMs}`;
const calls = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const names = "('HttpDispatcher','OtherTransaction/all','Agent/MetricsReported/count')";

/** Two applications: 100 with web requests on two hosts, 200 with both on one. */
function twoApplications(): NerdgraphAccount {
  return aNerdgraphAccount({
    traffic: 'flat',
    applications: [
      {
        id: 100,
        name: 'shop',
        kind: 'web',
        webRpm: 120,
        hosts: [
          { id: 11, name: 'web-1' },
          { id: 12, name: 'web-2' },
        ],
      },
      {
        id: 200,
        name: 'mail',
        kind: 'both',
        webRpm: 10,
        otherRpm: 40,
        hosts: [{ id: 21, name: 'mail-1' }],
      },
    ],
  });
}

describe('NRQL', () => {
  it('counts the calls of applications by metric, the most frequent first', () => {
    const { nrql } = twoApplications();

    const { results, otherResult, totalResult, metadata } = nrql(
      `${calls} WHERE appId IN (100,200) AND metricTimesliceName IN ${names} ` +
        `FACET appId, metricTimesliceName LIMIT 5000 ${range}`,
    );

    expect(results).toEqual([
      {
        facet: ['100', 'HttpDispatcher'],
        appId: '100',
        metricTimesliceName: 'HttpDispatcher',
        calls: 600,
      },
      {
        facet: ['200', 'OtherTransaction/all'],
        appId: '200',
        metricTimesliceName: 'OtherTransaction/all',
        calls: 200,
      },
      {
        facet: ['200', 'HttpDispatcher'],
        appId: '200',
        metricTimesliceName: 'HttpDispatcher',
        calls: 50,
      },
      {
        facet: ['100', 'Agent/MetricsReported/count'],
        appId: '100',
        metricTimesliceName: 'Agent/MetricsReported/count',
        calls: 10,
      },
      {
        facet: ['200', 'Agent/MetricsReported/count'],
        appId: '200',
        metricTimesliceName: 'Agent/MetricsReported/count',
        calls: 5,
      },
    ]);
    expect({ otherResult, totalResult, metadata }).toEqual({
      otherResult: { calls: 0 },
      totalResult: { calls: 865 },
      metadata: {
        facets: ['appId', 'metricTimesliceName'],
        messages: [],
        timeWindow: { begin: fromMs, end: untilMs },
      },
    });
  });
});
