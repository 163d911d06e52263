import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount } from './nerdgraph-account.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 55);
const value = 'newrelic.timeslice.value';
const calls = `count(${value})`;
const window = `SINCE ${toMs - 300_000} UNTIL ${toMs}`;
const ofOne = `SELECT ${calls} AS calls FROM Metric WHERE appId IN (1)`;
const good = `${ofOne} FACET appId LIMIT 5000 ${window}`;

/** What New Relic refuses, or what nobody can mean: it would answer with nothing, or with something else. */
const wrong: readonly (readonly [mistake: string, text: string])[] = [
  ['no SELECT', `FROM Metric WHERE appId = 1 ${window}`],
  ['no FROM', `SELECT ${calls} WHERE appId = 1 ${window}`],
  ['no source of data', `SELECT ${calls} FROM Metric ${window}`],
  ['mixed data', good.replace('FROM Metric', 'FROM Metric, Transaction')],
  ['an unknown clause', `${ofOne} GROUP BY host`],
  [
    'six facets',
    good.replace('FACET appId', 'FACET appId, appName, host, scope, entity.guid, realAgentId'),
  ],
  ['a filter without WHERE', good.replace(calls, `filter(${calls}, appId = 1)`)],
  ['an empty list', good.replace('(1)', '()')],
  ['a window that ends before it begins', `${ofOne} SINCE ${toMs} UNTIL ${toMs - 1}`],
  ['seconds', `${ofOne} SINCE ${toMs / 1000 - 300} UNTIL ${toMs / 1000}`],
  [
    'more windows than 366',
    `${good.replace(`${toMs - 300_000}`, `${toMs - 400_000}`)} TIMESERIES 1 second`,
  ],
  ['if() without a value', "SELECT max(if(result = 'x')) FROM Log SINCE 1 hour ago"],
];

/** What New Relic may well know. */
const beyond: readonly (readonly [mistake: string, text: string])[] = [
  ['a comparison', `${good} COMPARE WITH 1 day ago`],
  ['an unknown attribute', good.replace('appId IN (1)', 'appId = 1 AND hostname = 1')],
  ['an unknown function', good.replace('count', 'total')],
  ['the average of texts', good.replace(calls, 'average(host)')],
  ['a query in FROM', 'SELECT sum(x) FROM (SELECT count(*) AS x FROM Log FACET a)'],
  ['a function in WHERE', "SELECT count(*) FROM Log WHERE lower(level) = 'info'"],
  ['a constant in front', "SELECT count(*) FROM Log WHERE 'INFO' = level"],
  ['values of events', 'SELECT name, duration FROM Transaction'],
  ['a month', 'SELECT rate(count(*), 1 month) FROM Transaction'],
  ['a day by name', 'SELECT count(*) FROM Transaction SINCE yesterday'],
];

function answerTo(text: string): unknown {
  const document =
    'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results } } } }';
  return aNerdgraphAccount({ applications: [{ id: 1, kind: 'web' }] }).ask(document, { n: text });
}

describe('NRQL', () => {
  it.each([
    ...wrong.map(([mistake, text]) => ({
      mistake,
      text,
      errorClass: 'INVALID_INPUT',
      says: /NRQL Syntax Error/u,
    })),
    ...beyond.map(([mistake, text]) => ({
      mistake,
      text,
      errorClass: 'NOT_SIMULATED',
      says: /^the simulator does not know .* \(at position \d+\)$/u,
    })),
  ])('with $mistake is $errorClass: $text', ({ text, errorClass, says }) => {
    expect(answerTo(text)).toMatchObject({
      data: { actor: { account: { nrql: null } } },
      errors: [{ message: expect.stringMatching(says) as string, extensions: { errorClass } }],
    });
  });

  it.each([
    good,
    ofOne,
    good.replace('appId IN (1)', "NOT appName = 'a' OR entity.guid = 'b'"),
    good.replace('AS calls', "AS 'select'"),
    `${ofOne} SINCE 10 minutes ago UNTIL ${toMs}`,
    `FROM Metric UNTIL NOW SELECT ${calls} WHERE appId = 1 SINCE 1 hour AGO`,
  ])('without a mistake is answered: %s', (text) => {
    expect(answerTo(text)).not.toHaveProperty('errors');
  });
});
