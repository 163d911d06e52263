import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount, twoApplications } from './nerdgraph-account.ts';

const range = `SINCE ${Date.UTC(2026, 8, 1, 9, 50)} UNTIL ${Date.UTC(2026, 8, 1, 9, 55)}`;

describe('NRQL about several metrics', () => {
  it('lists the metrics of an application, or of one of its hosts, by a part of their names', () => {
    const { nrql } = twoApplications();
    const listOf = (where: string, limit = ''): unknown =>
      nrql(`SELECT uniques(metricTimesliceName${limit}) AS v FROM Metric WHERE ${where} ${range}`)
        .results[0]?.['v'];

    expect(listOf("appId = 100 AND metricTimesliceName LIKE 'Datastore'")).toEqual([
      'Datastore/all',
      'Datastore/allWeb',
    ]);
    expect(
      listOf("appId = 200 AND host = 'mail-1' AND metricTimesliceName LIKE '%Transaction/all'"),
    ).toEqual(['OtherTransaction/all']);
    expect(listOf("appId = 200 AND host = 'web-1'")).toEqual([]);
    expect(listOf('appId = 100', ', 3')).toHaveLength(3);
    expect(listOf('appId = 100')).toContain('Memory/Physical');
  });

  it('lists a thousand metrics unless it is asked for more', () => {
    const { nrql } = aNerdgraphAccount({
      traffic: 'flat',
      transactionNames: 1200,
      applications: [{ id: 1, kind: 'web', webRpm: 6000, hosts: 1 }],
    });
    const countOf = (limit: string): unknown =>
      nrql(
        `SELECT uniques(metricTimesliceName${limit}) AS v FROM Metric WHERE appId = 1 AND metricTimesliceName LIKE 'WebTransaction/%' ${range}`,
      ).results[0]?.['v'];

    expect(countOf('')).toHaveLength(1000);
    expect(countOf(', 5000')).toHaveLength(1200);
  });

  it('has several metrics of each host in one row, and no row where nothing matches', () => {
    const { nrql } = twoApplications();
    const columns = [
      ['count', 'HttpDispatcher', 'web'],
      ['count', 'OtherTransaction/all', 'other'],
      ['average', 'Memory/Physical', 'memory'],
      ['average', 'OtherTransaction/all', 'time'],
    ].map(
      ([name, metric, alias]) =>
        `filter(${name}(newrelic.timeslice.value), WHERE metricTimesliceName = '${metric}') AS ${alias}`,
    );
    const rowsOf = (metrics: string): unknown =>
      nrql(
        `SELECT ${columns.join(', ')} FROM Metric WHERE appId IN (100, 200) AND metricTimesliceName IN (${metrics}) FACET appId, host ${range}`,
      ).results;
    const rowOf = (appId: string, host: string, values: object): unknown => ({
      facet: [appId, host],
      appId,
      host,
      ...values,
    });

    expect(rowsOf("'HttpDispatcher', 'OtherTransaction/all', 'Memory/Physical'")).toEqual([
      rowOf('200', 'mail-1', {
        web: 50,
        other: 200,
        memory: 550,
        time: expect.any(Number) as unknown,
      }),
      rowOf('100', 'web-1', { web: 300, other: 0, memory: 550, time: null }),
      rowOf('100', 'web-2', { web: 300, other: 0, memory: 550, time: null }),
    ]);
    expect(rowsOf("'OtherTransaction/all'")).toEqual([
      rowOf('200', 'mail-1', {
        web: 0,
        other: 200,
        memory: null,
        time: expect.any(Number) as unknown,
      }),
    ]);
  });
});
