import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount, twoApplications } from './nerdgraph-account.ts';

const fromMs = Date.UTC(2026, 8, 1, 9, 50);
const untilMs = Date.UTC(2026, 8, 1, 9, 55);
const range = `SINCE ${fromMs} UNTIL ${untilMs}`;
const calls = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const guid = Buffer.from('1234567|APM|APPLICATION|100').toString('base64').replaceAll('=', '');
const names = "('HttpDispatcher','OtherTransaction/all','Agent/MetricsReported/count')";
const throughput = `${calls} WHERE metricTimesliceName IN ${names}`;

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

  it.each([
    { where: 'appId = 100', calls: 600 },
    { where: "appId = '100'", calls: 600 },
    { where: "appId IN ('100', 200)", calls: 850 },
    { where: 'appId != 100', calls: 250 },
    { where: 'appId > 100', calls: 250 },
    { where: 'appId >= 100 AND appId < 200', calls: 600 },
    { where: 'appId <= 200', calls: 850 },
    { where: "appName = 'mail'", calls: 250 },
    { where: "appName LIKE 'MAI'", calls: 250 },
    { where: "appName LIKE 'm%l'", calls: 250 },
    { where: "appName LIKE '%ai'", calls: 0 },
    { where: "appName NOT LIKE 'MAI'", calls: 600 },
    { where: "host IN ('web-1','mail-1')", calls: 550 },
    { where: "host NOT IN ('web-1','mail-1')", calls: 300 },
    { where: "host RLIKE r'.*[1]'", calls: 550 },
    { where: "host RLIKE r'web'", calls: 0 },
    { where: "host NOT RLIKE r'.*[0-1]'", calls: 300 },
    { where: "NOT host = 'web-1' AND appId = 100", calls: 300 },
    { where: "host = 'web-1' OR host = 'mail-1' AND appId = 100", calls: 300 },
    { where: "(host = 'web-1' OR host = 'mail-1') AND appId = 200", calls: 250 },
    { where: 'scope IS NULL', calls: 850 },
    { where: 'scope IS NOT NULL', calls: 0 },
    { where: "scope != 'x'", calls: 0 },
    { where: `entity.guid = '${guid}'`, calls: 600 },
  ])('counts the rows where $where', ({ where, calls: expected }) => {
    const { nrql } = twoApplications();

    const { results, otherResult, totalResult, metadata } = nrql(
      `${calls} WHERE appId IN (100,200) AND (${where}) AND metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all') ${range}`,
    );

    expect(results).toEqual([{ calls: expected }]);
    expect({ otherResult, totalResult, facets: metadata.facets }).toEqual({
      otherResult: null,
      totalResult: null,
      facets: null,
    });
  });

  it('has no row for a metric without calls, and none for an application that does not report', () => {
    const { nrql } = aNerdgraphAccount({
      traffic: 'flat',
      applications: [
        { id: 1, kind: 'idle', hosts: [{ name: 'idle-1' }] },
        { id: 2, kind: 'not_reporting', webRpm: 60, hosts: [{ name: 'silent-1' }] },
      ],
    });

    expect(nrql(`${throughput} FACET appId, metricTimesliceName ${range}`).results).toEqual([
      expect.objectContaining({ facet: ['1', 'Agent/MetricsReported/count'], calls: 5 }),
    ]);
  });

  it('has a heartbeat for each complete minute in which a host ran', async () => {
    const { nrql, fleet, clock } = aNerdgraphAccount({
      traffic: 'flat',
      applications: [{ id: 1, kind: 'web', webRpm: 60, hosts: [{ id: 11, name: 'old' }] }],
    });
    fleet.addHost(1, { name: 'new' });
    await clock.advance(150_000);
    fleet.removeHost(1, 11);
    await clock.advance(600_000);

    const { results } = nrql(
      `${calls} WHERE appId = 1 AND metricTimesliceName = 'Agent/MetricsReported/count' FACET host SINCE 11 minutes ago`,
    );

    // From 10:02 to 10:13: the old host ran until 10:03, the last complete minute begins at 10:09.
    expect(results).toEqual([
      { facet: 'new', host: 'new', calls: 8 },
      { facet: 'old', host: 'old', calls: 1 },
    ]);
  });

  it('adds up two hosts with the same name', () => {
    const { nrql } = aNerdgraphAccount({
      traffic: 'flat',
      applications: [
        { id: 1, kind: 'web', webRpm: 60, hosts: [{ name: 'twin' }, { name: 'twin' }] },
      ],
    });

    expect(
      nrql(
        `${calls} WHERE appId IS NOT NULL AND metricTimesliceName = 'HttpDispatcher' FACET host ${range}`,
      ).results,
    ).toEqual([{ facet: 'twin', host: 'twin', calls: 300 }]);
  });

  it('has ids as numbers if the account is set so', () => {
    const { nrql } = aNerdgraphAccount(
      { traffic: 'flat', applications: [{ id: 7, kind: 'web', webRpm: 60, hosts: 1 }] },
      { appIds: 'number' },
    );

    const expected = [{ facet: 7, appId: 7, calls: 305 }];
    for (const where of ['appId = 7', "appId = '7'", 'appId IN (7)', "appId IN ('7')"]) {
      expect(nrql(`${throughput} AND ${where} FACET appId ${range}`).results).toEqual(expected);
    }
  });

  it('keeps the facets with the highest numbers, and adds up the others', () => {
    const { nrql } = aNerdgraphAccount({
      traffic: 'flat',
      applications: Array.from({ length: 12 }, (_, index) => ({
        id: index + 1,
        kind: 'web' as const,
        webRpm: 60 * (index + 1),
        hosts: 1,
      })),
    });
    const web = `${calls} WHERE metricTimesliceName = 'HttpDispatcher' FACET appId ${range}`;
    const idsOf = (text: string): readonly unknown[] =>
      nrql(text).results.map(({ facet }) => facet);

    expect(idsOf(web)).toEqual(['12', '11', '10', '9', '8', '7', '6', '5', '4', '3']);
    expect(idsOf(`${web} LIMIT 2`)).toEqual(['12', '11']);
    expect(nrql(web)).toMatchObject({
      otherResult: { calls: 900 },
      totalResult: { calls: 300 * 78 },
    });
    expect(nrql(`${web} LIMIT MAX`)).toMatchObject({
      otherResult: { calls: 0 },
      totalResult: { calls: 300 * 78 },
    });
  });

  it.each([
    { column: 'count(newrelic.timeslice.value)', value: 600 },
    { column: 'rate(count(newrelic.timeslice.value), 1 minute)', value: 120 },
    { column: 'count(newrelic.timeslice.value) / 5 + 2 * 3', value: 126 },
    { column: '(count(newrelic.timeslice.value) - 100) / 5', value: 100 },
    { column: 'count(newrelic.timeslice.value) / 0', value: null },
    { column: "filter(count(newrelic.timeslice.value), WHERE host = 'web-1')", value: 300 },
    { column: "filter(count(newrelic.timeslice.value), WHERE host = 'none')", value: 0 },
    { column: 'count(*)', value: 10 },
    { column: 'count(host)', value: 10 },
    { column: 'count(scope)', value: 0 },
    { column: 'uniques(host)', value: ['web-1', 'web-2'] },
    { column: 'uniques(host, 1)', value: ['web-1'] },
    { column: 'uniqueCount(host)', value: 2 },
    { column: "sum(newrelic.timeslice.value['count'])", value: 600 },
    { column: "average(newrelic.timeslice.value['count'])", value: 60 },
    {
      column: "average(newrelic.timeslice.value['count'] / newrelic.timeslice.value['count']) * 2",
      value: 2,
    },
    {
      column:
        "filter(average(newrelic.timeslice.value['total'] / newrelic.timeslice.value['count']), WHERE host = 'none')",
      value: null,
    },
    { column: "filter(stddev(newrelic.timeslice.value), WHERE host = 'none')", value: null },
    { column: "filter(sum(newrelic.timeslice.value), WHERE host = 'none')", value: 0 },
    {
      column: "filter(min(newrelic.timeslice.value), WHERE metricTimesliceName = 'x')",
      value: null,
    },
    {
      column:
        "filter(count(newrelic.timeslice.value), WHERE metricTimesliceName = 'HttpDispatcher')",
      value: 600,
    },
    { column: 'latest(appName)', value: 'shop' },
    { column: 'latest(scope)', value: null },
    { column: "filter(average(newrelic.timeslice.value), WHERE host = 'none')", value: null },
    { column: "filter(max(newrelic.timeslice.value), WHERE host = 'none')", value: null },
  ])('works out $column', ({ column, value }) => {
    const { nrql } = twoApplications();

    const { results } = nrql(
      `SELECT ${column} AS v FROM Metric WHERE appId = 100 AND metricTimesliceName = 'HttpDispatcher' ${range}`,
    );

    expect(results).toEqual([{ v: value }]);
  });

  it('has the response time as the mean, the least, the most and, times the calls, the sum', () => {
    const { nrql, fleet } = twoApplications();
    const seconds = (fleet.application(100)?.responseTimeMs ?? 0) / 1000;
    const value = 'newrelic.timeslice.value';

    const { results } = nrql(
      `SELECT average(${value}) AS a, min(${value}) AS b, max(${value}) AS c, sum(${value}) AS d, stddev(${value}) AS e FROM Metric ` +
        `WHERE appId = 100 AND metricTimesliceName = 'HttpDispatcher' ${range}`,
    );

    const close = (expected: number): unknown => expect.closeTo(expected, 6);
    expect(results).toEqual([
      {
        a: close(seconds),
        b: close(seconds / 97),
        c: close(seconds * 23.7),
        d: close(600 * seconds),
        e: close(seconds * 1.9),
      },
    ]);
  });

  it.each([
    { snapMs: undefined, begin: '09:49', end: '09:55' },
    { snapMs: 1, begin: '09:49:30', end: '09:55:10' },
    { snapMs: 300_000, begin: '09:45', end: '09:55' },
  ])('moves a range to a grid of $snapMs ms, and says so', ({ snapMs, begin, end }) => {
    const { nrql } = aNerdgraphAccount({}, { snapMs });
    const at = (time: string): number => Date.parse(`2026-09-01T${time}Z`);

    const { metadata } = nrql(
      `${calls} WHERE appId = 1 SINCE ${at('09:49:30')} UNTIL ${at('09:55:10')}`,
    );

    expect(metadata.timeWindow).toEqual({
      begin: at(begin.padEnd(8, ':00')),
      end: at(end.padEnd(8, ':00')),
    });
  });

  it.each([
    { range: '', minutes: 60 },
    { range: 'SINCE 1 hour ago', minutes: 60 },
    { range: 'SINCE 1 day ago', minutes: 1440 },
    { range: "SINCE '2026-09-01T11:50:00+02:00' UNTIL '2026-09-01 09:55:00'", minutes: 5 },
  ])('is about $minutes minutes with the range "$range"', ({ range: written, minutes }) => {
    const { timeWindow } = twoApplications().nrql(`${calls} WHERE appId = 100 ${written}`).metadata;

    expect(timeWindow.end - timeWindow.begin).toBe(minutes * 60_000);
  });
});
