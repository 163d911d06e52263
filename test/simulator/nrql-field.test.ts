import { describe, expect, it } from 'vitest';
import { twoApplications } from './nerdgraph-account.ts';

const range = `SINCE ${Date.UTC(2026, 8, 1, 9, 50)} UNTIL ${Date.UTC(2026, 8, 1, 9, 55)}`;
const calls = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const value = 'newrelic.timeslice.value';
const guid = Buffer.from('1234567|APM|APPLICATION|100').toString('base64').replaceAll('=', '');

describe('NRQL', () => {
  it.each([
    { where: 'appId = 100', calls: 600 },
    { where: "appId IN ('100', 200)", calls: 850 },
    { where: 'appId != 100', calls: 250 },
    { where: "appName LIKE 'MAI'", calls: 250 },
    { where: "appName LIKE 'm%l'", calls: 250 },
    { where: "host NOT IN ('web-1','mail-1')", calls: 300 },
    { where: "host RLIKE r'.*[1]'", calls: 550 },
    { where: "NOT host = 'web-1' AND appId = 100", calls: 300 },
    { where: "host = 'web-1' OR host = 'mail-1' AND appId = 100", calls: 300 },
    { where: "(host = 'web-1' OR host = 'mail-1') AND appId = 200", calls: 250 },
    { where: 'scope IS NULL', calls: 850 },
    { where: "scope != 'x'", calls: 0 },
    { where: `entity.guid = '${guid}'`, calls: 600 },
  ])('counts the rows where $where', ({ where, calls: expected }) => {
    const { nrql } = twoApplications();

    const { results } = nrql(
      `${calls} WHERE appId IN (100,200) AND (${where}) AND metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all') ${range}`,
    );

    expect(results).toEqual([{ calls: expected }]);
  });

  it.each([
    { column: `rate(count(${value}), 1 minute)`, expected: 120 },
    { column: `(count(${value}) - 100) / 5 + 2 * 3`, expected: 106 },
    { column: `count(${value}) / 0`, expected: null },
    { column: `filter(count(${value}), WHERE host = 'none')`, expected: 0 },
    { column: `filter(average(${value}), WHERE host = 'none')`, expected: null },
    { column: `filter(max(${value}), WHERE metricTimesliceName = 'x')`, expected: null },
    { column: 'count(*)', expected: 10 },
    { column: 'count(scope)', expected: 0 },
    { column: 'uniques(host, 1)', expected: ['web-1'] },
    { column: `sum(${value}['count'])`, expected: 600 },
    { column: `average(${value}['count'] / ${value}['count']) * 2`, expected: 2 },
    { column: 'latest(appName)', expected: 'shop' },
  ])('works out $column', ({ column, expected }) => {
    const { nrql } = twoApplications();

    const { results } = nrql(
      `SELECT ${column} AS v FROM Metric WHERE appId = 100 AND metricTimesliceName = 'HttpDispatcher' ${range}`,
    );

    expect(results).toEqual([{ v: expected }]);
  });
});
