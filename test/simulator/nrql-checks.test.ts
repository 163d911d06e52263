import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount } from './nerdgraph-account.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 55);
const fromMs = toMs - 300_000;
const value = 'newrelic.timeslice.value';
const calls = `count(${value}) AS calls`;
const window = `SINCE ${fromMs} UNTIL ${toMs}`;
const ofOne = `SELECT ${calls} FROM Metric WHERE appId IN (1)`;
const good = `${ofOne} FACET appId LIMIT 5000 ${window}`;

/** What New Relic refuses, or what nobody can mean: it would answer with nothing, or with something else. */
const wrong: readonly { readonly mistake: string; readonly text: string }[] = [
  { mistake: 'nothing', text: '' },
  { mistake: 'no SELECT', text: `FROM Metric WHERE appId = 1 ${window}` },
  { mistake: 'no FROM', text: `SELECT ${calls} WHERE appId = 1 ${window}` },
  { mistake: 'no source of data', text: `SELECT ${calls} FROM Metric ${window}` },
  {
    mistake: 'only a host as source',
    text: good.replace('appId IN (1)', "host = 'a'").replace('FACET appId', 'FACET host'),
  },
  { mistake: 'mixed data', text: good.replace('FROM Metric', 'FROM Metric, Transaction') },
  { mistake: 'a clause twice', text: `${good} LIMIT 1` },
  { mistake: 'an unknown clause', text: `${ofOne} GROUP BY host` },
  { mistake: 'no limit', text: good.replace('5000', '0') },
  { mistake: 'a limit below nothing', text: good.replace('5000', '-1') },
  { mistake: 'half a limit', text: good.replace('5000', '2.5') },
  { mistake: 'a limit above the highest', text: good.replace('5000', '5001') },
  {
    mistake: 'six facets',
    text: good.replace(
      'FACET appId',
      'FACET appId, appName, host, scope, instanceName, entity.guid',
    ),
  },
  { mistake: 'a facet twice', text: good.replace('FACET appId', 'FACET appId, appId') },
  { mistake: 'a comma too many', text: good.replace('FACET appId', 'FACET appId,') },
  { mistake: 'a function of nothing', text: good.replace(`count(${value})`, 'count()') },
  { mistake: 'all of everything', text: good.replace(`count(${value})`, 'average(*)') },
  {
    mistake: 'a filter without WHERE',
    text: good.replace(`count(${value})`, `filter(count(${value}), appId = 1)`),
  },
  {
    mistake: 'a rate without time',
    text: good.replace(`count(${value})`, `rate(count(${value}))`),
  },
  { mistake: 'a name without AS', text: good.replace('AS calls', 'calls') },
  { mistake: 'a keyword as a name', text: good.replace('AS calls', 'AS select') },
  { mistake: 'a name twice', text: good.replace(calls, `${calls}, ${calls}`) },
  { mistake: 'a text in double quotes', text: good.replace('appId IN (1)', 'appName = "shop"') },
  { mistake: 'an open text', text: good.replace('appId IN (1)', "appName = 'shop") },
  { mistake: 'an empty list', text: good.replace('(1)', '()') },
  { mistake: 'a list without brackets', text: good.replace('(1)', '1') },
  { mistake: 'a condition without an end', text: good.replace('(1)', '(1) AND') },
  { mistake: 'an operator of another language', text: good.replace('IN (1)', '== 1') },
  { mistake: 'a pattern that is none', text: good.replace('(1)', "(1) AND host RLIKE r'['") },
  {
    mistake: 'a window that ends before it begins',
    text: `${ofOne} SINCE ${toMs} UNTIL ${fromMs}`,
  },
  { mistake: 'a window of no length', text: `${ofOne} SINCE ${toMs} UNTIL ${toMs}` },
  { mistake: 'a window that begins now', text: `${ofOne} SINCE now` },
  {
    mistake: 'a window from the past to the past before',
    text: `${ofOne} SINCE 5 minutes ago UNTIL 10 minutes ago`,
  },
  { mistake: 'seconds', text: `${ofOne} SINCE ${fromMs / 1000} UNTIL ${toMs / 1000}` },
  { mistake: 'microseconds', text: `${ofOne} SINCE ${fromMs * 1000} UNTIL ${toMs * 1000}` },
  { mistake: 'a time without its unit', text: `${ofOne} SINCE 5 ago` },
  { mistake: 'a semicolon', text: `${good};` },
  { mistake: 'a time of day', text: `${ofOne} SINCE 'noon'` },
  { mistake: 'an open bracket', text: good.replace('appId IN (1)', '(appId = 1') },
  { mistake: 'an attribute alone', text: good.replace('appId IN (1)', 'appId') },
  { mistake: 'IS with a number', text: good.replace('IN (1)', 'IS 1') },
  { mistake: 'LIKE with a number', text: good.replace('IN (1)', 'LIKE 1') },
  { mistake: 'too many uniques', text: good.replace(`count(${value})`, 'uniques(host, 10001)') },
  { mistake: 'a limit in words', text: good.replace('5000', 'few') },
  { mistake: 'an unknown unit of time', text: `${ofOne} SINCE 5 parsecs ago` },
  { mistake: 'an open bracket in SELECT', text: good.replace(')', '') },
  { mistake: 'a bracket that closes nothing', text: good.replace('(1)', '(1))') },
  { mistake: 'another bracket than was opened', text: good.replace('(1)', '(1]') },
  { mistake: 'SHOW EVENT TYPES with more', text: 'SHOW EVENT TYPES WHERE a = 1' },
  { mistake: 'CASES of nothing', text: good.replace('FACET appId', 'FACET CASES()') },
  {
    mistake: 'if() without a value',
    text: "SELECT max(if(result = 'x')) FROM SyntheticCheck SINCE 1 hour ago",
  },
];

/** What New Relic may well know. */
const beyond: readonly { readonly mistake: string; readonly text: string }[] = [
  { mistake: 'a time series', text: `${good} TIMESERIES 1 minute` },
  { mistake: 'an offset', text: `${good} OFFSET 10` },
  { mistake: 'an unknown facet', text: good.replace('FACET appId', 'FACET applicationId') },
  {
    mistake: 'an unknown attribute in WHERE',
    text: good.replace('appId IN (1)', 'appId = 1 AND hostname = 1'),
  },
  { mistake: 'an unknown attribute in SELECT', text: good.replace(value, 'newrelic.timeslice') },
  { mistake: 'an unknown function', text: good.replace('count', 'total') },
  { mistake: 'the average of texts', text: good.replace(`count(${value})`, 'average(host)') },
  { mistake: 'an unknown member', text: good.replace(`count(${value})`, `sum(${value}['calls'])`) },
  {
    mistake: 'a filter in a filter',
    text: good.replace(
      `count(${value})`,
      `filter(filter(count(${value}), WHERE appId = 1), WHERE appId = 1)`,
    ),
  },
  { mistake: 'the rate of a number', text: good.replace(`count(${value})`, 'rate(1, 1 minute)') },
  { mistake: 'a text without quotes', text: good.replace('appId IN (1)', 'appName = shop') },
  {
    mistake: 'a field of a maximum',
    text: good.replace(`count(${value})`, `max(${value}['total'])`),
  },
  {
    mistake: 'a ratio of two attributes',
    text: good.replace(`count(${value})`, `average(${value}['total'] / host['count'])`),
  },
  {
    mistake: 'a ratio without a field',
    text: good.replace(`count(${value})`, `average(${value}['total'] / ${value})`),
  },
  { mistake: 'a comparison with another time', text: `${good} COMPARE WITH 1 week ago` },
  { mistake: 'a format', text: `${good} WITH METRIC_FORMAT 'a.{b}'` },
  { mistake: 'an order', text: 'SELECT count(*) FROM Transaction FACET name ORDER BY name' },
  {
    mistake: 'a join',
    text: 'FROM Transaction JOIN (FROM Log SELECT count(*)) ON a SELECT count(*)',
  },
  {
    mistake: 'a query in FROM',
    text: 'SELECT sum(x) FROM (SELECT count(*) AS x FROM Log FACET a)',
  },
  {
    mistake: 'a query in WHERE',
    text: 'SELECT count(*) FROM Log WHERE a IN (SELECT uniques(b) FROM Log)',
  },
  { mistake: 'a table', text: 'SELECT count(*) FROM lookup(owners)' },
  { mistake: 'a histogram', text: 'SELECT histogram(duration, 10, 20) FROM Transaction' },
  {
    mistake: 'a member of a value',
    text: "SELECT percentile(duration, 95)['95'] FROM Transaction",
  },
  {
    mistake: 'a member by name',
    text: 'SELECT getField(percentile(duration, 95), 95) FROM Transaction',
  },
  { mistake: 'a function in WHERE', text: "SELECT count(*) FROM Log WHERE lower(level) = 'info'" },
  { mistake: 'a function as a constant', text: "SELECT count(*) FROM Log WHERE a = lower('A')" },
  { mistake: 'arithmetic in WHERE', text: 'SELECT count(*) FROM Log WHERE a > 1 * 2' },
  { mistake: 'a constant in front', text: "SELECT count(*) FROM Log WHERE 'INFO' = level" },
  { mistake: 'a function in FACET', text: "SELECT count(*) FROM Log FACET capture(a, r'(.*)')" },
  { mistake: 'values of events', text: 'SELECT name, duration FROM Transaction' },
  { mistake: 'all of events', text: 'SELECT * FROM Transaction' },
  { mistake: 'several attributes', text: 'SELECT uniqueCount(name, host) FROM Transaction' },
  { mistake: 'a month', text: 'SELECT rate(count(*), 1 month) FROM Transaction' },
  { mistake: 'a day by name', text: 'SELECT count(*) FROM Transaction SINCE yesterday' },
];

function answerTo(text: string): unknown {
  const document =
    'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results } } } }';
  return aNerdgraphAccount({ applications: [{ id: 1, kind: 'web' }] }).ask(document, { n: text });
}

describe('NRQL', () => {
  it.each(wrong)('with $mistake is refused: $text', ({ text }) => {
    expect(answerTo(text)).toMatchObject({
      data: { actor: { account: { nrql: null } } },
      errors: [
        {
          message: expect.stringContaining('NRQL Syntax Error') as string,
          extensions: { errorClass: 'INVALID_INPUT' },
        },
      ],
    });
  });

  it.each(beyond)('with $mistake is beyond the simulator, which says so: $text', ({ text }) => {
    expect(answerTo(text)).toEqual({
      data: { actor: { account: { nrql: null } } },
      errors: [
        expect.objectContaining({
          message: expect.stringMatching(
            /^the simulator does not know .* \(at position \d+\)$/u,
          ) as string,
          extensions: { errorClass: 'NOT_SIMULATED' },
        }),
      ],
    });
  });

  it.each([
    { text: good },
    { text: ofOne },
    { text: good.replace('appId IN (1)', "host = 'a'") },
    { text: good.replace('appId IN (1)', "NOT appName = 'a' OR entity.guid = 'b'") },
    { text: good.replace('AS calls', "AS 'select'") },
    { text: good.replace(calls, `${calls}, filter(count(${value}), WHERE host = 'a') AS a`) },
    { text: good.replace('FACET appId', 'FACET appId, appName, host, scope, instanceName') },
    { text: `${ofOne} SINCE 10 minutes ago UNTIL ${toMs}` },
    { text: `${ofOne} SINCE '2026-09-01 09:50:00' UNTIL '2026-09-01T11:55:00+02:00'` },
    { text: `FROM Metric UNTIL NOW SELECT ${calls} WHERE appId = 1 SINCE 1 hour AGO` },
  ])('without a mistake is answered: $text', ({ text }) => {
    expect(answerTo(text)).not.toHaveProperty('errors');
  });
});
