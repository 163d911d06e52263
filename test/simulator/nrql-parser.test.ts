import { describe, expect, it } from 'vitest';
import { GraphqlFailure } from '../../src/simulator/graphql-failure.ts';
import { parseNrql } from '../../src/simulator/nrql-parser.ts';

const calls = {
  value: { kind: 'aggregate', name: 'count', attribute: 'newrelic.timeslice.value' },
  name: 'calls',
};

function failureOf(text: string): unknown {
  try {
    return parseNrql(text);
  } catch (error) {
    return error;
  }
}

describe('parseNrql', () => {
  it('reads a query with every clause', () => {
    const query = parseNrql(
      "SELECT count(newrelic.timeslice.value) AS calls FROM Metric WHERE appId IN (1,2) AND host RLIKE r'.*[0-7]' FACET appId, host AS name LIMIT 5000 SINCE 1760000400000 UNTIL 5 minutes ago",
    );

    expect(query).toEqual({
      select: [calls],
      eventTypes: ['Metric'],
      where: {
        kind: 'and',
        left: { kind: 'in', attribute: 'appId', values: [1, 2] },
        right: { kind: 'matches', attribute: 'host', pattern: /^(?:.*[0-7])$/ },
      },
      facets: [
        { value: 'appId', name: 'appId' },
        { value: 'host', name: 'name' },
      ],
      limit: 5000,
      since: { kind: 'at', timeMs: 1_760_000_400_000 },
      until: { kind: 'ago', ms: 300_000 },
    });
  });

  it('has the defaults of the vendor: ten facets of the last hour', () => {
    expect(parseNrql('SELECT count(newrelic.timeslice.value) AS calls FROM Metric')).toEqual({
      select: [calls],
      eventTypes: ['Metric'],
      where: undefined,
      facets: [],
      limit: 10,
      since: { kind: 'ago', ms: 3_600_000 },
      until: { kind: 'ago', ms: 0 },
    });
  });

  it.each([
    { text: 'FROM Metric SELECT count(*)' },
    { text: 'from Metric until now select count(*)' },
    { text: 'SELECT count(*) FROM Metric SINCE 60 minutes ago UNTIL NOW' },
    { text: 'SELECT count(*) UNTIL now FROM Metric SINCE 1 hour AGO' },
  ])('takes the clauses in any order and case: $text', ({ text }) => {
    expect(parseNrql(text)).toEqual(parseNrql('SELECT count(*) FROM Metric'));
  });

  it.each([
    { column: 'count(*)', name: 'count' },
    { column: 'average(newrelic.timeslice.value)', name: 'average.newrelic.timeslice.value' },
    { column: 'rate(count(*), 1 minute)', name: 'count' },
    { column: "filter(count(*), WHERE host = 'a')", name: 'count' },
    { column: 'uniques(host, 5000)', name: 'uniques.host' },
    { column: 'count(*) / 30', name: 'result' },
    { column: "count(*) AS 'a b'", name: 'a b' },
    { column: 'count(*) AS `a b`', name: 'a b' },
  ])('calls $column $name', ({ column, name }) => {
    expect(parseNrql(`SELECT ${column} FROM Metric`).select.map((one) => one.name)).toEqual([name]);
  });

  it.each([
    { text: "SINCE '2026-09-01 10:00:00'", since: Date.UTC(2026, 8, 1, 10) },
    { text: "SINCE '2026-09-01T12:00:00+02:00'", since: Date.UTC(2026, 8, 1, 10) },
    { text: "SINCE '2026-09-01T10:00:00Z'", since: Date.UTC(2026, 8, 1, 10) },
  ])('reads a time as text: $text', ({ text, since }) => {
    expect(parseNrql(`SELECT count(*) FROM Metric ${text}`).since).toEqual({
      kind: 'at',
      timeMs: since,
    });
  });

  it.each([
    { text: '', says: 'SELECT is missing' },
    { text: 'SELECT count(*)', says: 'FROM is missing' },
    { text: 'SELECT FROM Metric', says: 'expected' },
    { text: 'SELECT median(x) FROM Metric', says: 'expected a function' },
    {
      text: "SELECT max(newrelic.timeslice.value['total']) FROM Metric",
      says: 'fields of sum and average only',
    },
    {
      text: "SELECT sum(newrelic.timeslice.value['median']) FROM Metric",
      says: 'expected a field of a timeslice',
    },
    { text: "SELECT sum(newrelic.timeslice.value['total' FROM Metric", says: "expected ']'" },
    {
      text: "SELECT average(newrelic.timeslice.value['total'] / host['count']) FROM Metric",
      says: 'same attribute',
    },
    {
      text: "SELECT average(newrelic.timeslice.value['total'] / newrelic.timeslice.value) FROM Metric",
      says: 'field in brackets',
    },
    { text: 'SELECT uniques(host, 10001) FROM Metric', says: 'at most 10000' },
    { text: 'SELECT count(* FROM Metric', says: "expected ')'" },
    { text: 'SELECT count(*) FROM Metric FACET', says: 'expected an attribute' },
    { text: 'SELECT count(*) FROM Metric FACET host LIMIT 5001', says: 'at most 5000' },
    { text: 'SELECT count(*) FROM Metric LIMIT few', says: 'expected a whole number' },
    { text: 'SELECT count(*) FROM Metric LIMIT 1 LIMIT 2', says: 'there twice' },
    { text: 'SELECT count(*) FROM Metric TIMESERIES', says: 'no such clause' },
    { text: 'SELECT count(*) FROM Metric SINCE 5 parsecs ago', says: 'expected a unit of time' },
    { text: 'SELECT count(*) FROM Metric SINCE 5 minutes', says: 'expected AGO' },
    { text: "SELECT count(*) FROM Metric SINCE 'noon'", says: 'expected a time' },
    { text: 'SELECT count(*) FROM Metric WHERE', says: 'expected an attribute' },
    { text: 'SELECT count(*) FROM Metric WHERE host', says: 'expected a comparison' },
    { text: 'SELECT count(*) FROM Metric WHERE host NOT = 1', says: 'expected a comparison' },
    { text: 'SELECT count(*) FROM Metric WHERE host = red', says: 'expected a text' },
    { text: 'SELECT count(*) FROM Metric WHERE host IN ()', says: 'expected a text' },
    { text: 'SELECT count(*) FROM Metric WHERE (host = 1', says: "expected ')'" },
    { text: 'SELECT count(*) FROM Metric WHERE host IS 1', says: 'expected NULL' },
    { text: 'SELECT count(*) FROM Metric WHERE host LIKE 1', says: 'expected a text in quotes' },
    { text: "SELECT count(*) FROM Metric WHERE host RLIKE r'('", says: 'valid regular expression' },
    { text: 'SELECT count(*) FROM Metric WHERE host RLIKE 1', says: 'expected a pattern' },
    { text: 'SELECT count(*) FROM Metric nonsense', says: 'expected a clause' },
  ])('refuses a mistake, and says where it is: $text', ({ text, says }) => {
    const failure = failureOf(text);

    expect(failure).toBeInstanceOf(GraphqlFailure);
    expect(failure).toMatchObject({
      extensions: { errorClass: 'INVALID_INPUT' },
      message: expect.stringMatching(/^NRQL Syntax Error: .* position \d+/) as string,
    });
    expect(failure).toHaveProperty('message', expect.stringContaining(says));
  });
});
