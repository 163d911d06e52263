import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount, twoApplications } from './nerdgraph-account.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 55);
const range = `SINCE ${toMs - 300_000} UNTIL ${toMs}`;
const dayRange = `SINCE ${toMs - 86_400_000} UNTIL ${toMs}`;

describe('NRQL about events', () => {
  it.each([
    {
      text: 'SELECT count(*) AS v FROM Transaction FACET appName',
      rows: [
        { facet: 'shop', appName: 'shop', v: 600 },
        { facet: 'mail', appName: 'mail', v: 250 },
      ],
    },
    {
      text: "SELECT count(*) AS v FROM Transaction FACET CASES(WHERE appName = 'shop' AS 'the shop', WHERE host LIKE 'mail%') AS kind",
      rows: [
        { facet: 'the shop', kind: 'the shop', v: 600 },
        { facet: "host LIKE 'mail%'", kind: "host LIKE 'mail%'", v: 250 },
      ],
    },
    {
      text: "SELECT count(*) AS v FROM Transaction FACET cases(appName = 'shop' AS a)",
      rows: [{ facet: 'a', "cases(appName = 'shop' AS a)": 'a', v: 600 }],
    },
    {
      text: "SELECT count(*) AS v FROM Transaction FACET CASES(WHERE appName = 'shop' AS a) OR appName AS kind",
      rows: [
        { facet: 'a', kind: 'a', v: 600 },
        { facet: 'mail', kind: 'mail', v: 250 },
      ],
    },
    {
      text: "SELECT count(*) AS v FROM Transaction FACET if(appName = 'shop', 'large', 'small') AS size",
      rows: [
        { facet: 'large', size: 'large', v: 600 },
        { facet: 'small', size: 'small', v: 250 },
      ],
    },
    {
      text: 'SELECT count(*) AS v FROM KafkaOffsetSample FACET buckets(consumer.lag, 4000, 4) AS lag',
      rows: [
        { facet: '0 - 1000', lag: '0 - 1000', v: 45 },
        { facet: '2000 - 3000', lag: '2000 - 3000', v: 15 },
      ],
    },
    {
      text: "SELECT latest(if(result = 'SUCCESS', 1, 0)) AS v FROM SyntheticCheck WHERE locationLabel = 'Tokyo, JP' FACET monitorName",
      rows: ['Checkout page', 'Login API', 'Search'].map((monitorName) => ({
        facet: monitorName,
        monitorName,
        v: 1,
      })),
    },
    {
      text: "SELECT sum(if(result = 'FAILED', 1, 0)) / count(*) AS v FROM SyntheticCheck WHERE monitorName = 'Checkout page' AND locationLabel = 'Frankfurt, DE'",
      rows: [{ v: 0.2 }],
    },
    {
      text: "SELECT percentage(count(*), WHERE result = 'SUCCESS') / 100 AS v FROM SyntheticCheck FACET monitorName LIMIT 1",
      rows: [
        {
          facet: 'Checkout page',
          monitorName: 'Checkout page',
          v: expect.closeTo(14 / 15) as unknown,
        },
      ],
    },
    {
      text: 'SELECT rate(filter(count(*), WHERE error IS TRUE), 1 minute) AS v FROM AwsLambdaInvocation FACET aws.lambda.functionName',
      rows: [
        { facet: 'resize-image', 'aws.lambda.functionName': 'resize-image', v: 0 },
        { facet: 'send-receipt', 'aws.lambda.functionName': 'send-receipt', v: 1 },
      ],
    },
    {
      text: "SELECT uniqueCount(partition) AS v FROM KafkaOffsetSample WHERE topic = 'refunds'",
      rows: [{ v: 3 }],
    },
    {
      text: 'SELECT count(*) AS v FROM Transaction, TransactionError',
      rows: [{ v: 850 + 8 }],
    },
    { text: 'SELECT count(*) AS v, max(x) AS m FROM Transactions', rows: [{ v: 0, m: null }] },
    { text: 'SELECT count(*) AS v FROM Transactions FACET appName', rows: [] },
    { text: 'SELECT average(name) AS v FROM Transaction', rows: [{ v: null }] },
  ])('is answered: $text', ({ text, rows }) => {
    const { results } = twoApplications().nrql(`${text} ${range}`);

    expect(results).toEqual(rows);
  });

  it('works with numbers of attributes as with those of times', () => {
    const { results } = twoApplications().nrql(
      `SELECT average(duration) AS a, average(duration * 1000) AS b, max(-1 * (duration + 1) / 2) AS c FROM Transaction WHERE appName = 'shop' ${range}`,
    );

    const [{ a, b, c } = {}] = results;
    expect(Number(b)).toBeCloseTo(Number(a) * 1000);
    expect(Number(c)).toBeCloseTo((Number(a) + 1) / -2);
  });

  it('has a median as New Relic has a percentile', () => {
    const { results } = twoApplications().nrql(
      `SELECT median(duration) AS m, percentile(duration, 50) AS p FROM Transaction ${range}`,
    );

    const [{ m, p } = {}] = results;
    expect(m).toEqual(p);
    expect(m).toEqual({ 50: expect.any(Number) as unknown });
  });

  it('has ingest for whole hours, and incidents of which some are still open', () => {
    const { nrql } = twoApplications();
    const ingest = 'SELECT sum(GigabytesIngested) AS gb FROM NrConsumption FACET usageMetric';
    const open =
      "SELECT filter(uniqueCount(incidentId), WHERE event = 'open') - filter(uniqueCount(incidentId), WHERE event = 'close') AS open FROM NrAiIncident FACET policyName";

    expect(nrql(`${ingest} ${range}`).results).toEqual([]);
    expect(nrql(`${ingest} ${dayRange}`).results.map(({ gb }) => gb)).toEqual([12, 36, 6]);
    const stillOpen = nrql(`${open} ${dayRange}`).results.map((row) => row['open']);
    expect(new Set(stillOpen)).toEqual(new Set([0, 1, 2]));
  });

  it('swings in the course of an hour, and is the same for the same window', () => {
    const { nrql } = twoApplications();
    const lagAt = (minutes: number): unknown =>
      nrql(
        `SELECT max(consumer.lag) AS lag FROM KafkaOffsetSample SINCE ${toMs - (minutes + 5) * 60_000} UNTIL ${toMs - minutes * 60_000}`,
      ).results[0]?.['lag'];

    expect(lagAt(0)).toBe(lagAt(0));
    expect(lagAt(0)).not.toBe(lagAt(20));
  });
});

describe('SHOW EVENT TYPES', () => {
  it.each(['SHOW EVENT TYPES SINCE 1 day ago', 'show event types', 'SHOW EVENT TYPES UNTIL now'])(
    'lists each type in a row, all of which can be asked: %s',
    (text) => {
      const { ask, nrql } = aNerdgraphAccount({ applications: 5 });
      const document =
        'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results totalResult metadata { facets messages timeWindow { begin } } } } } }';
      const found = nrqlOf(ask(document, { n: text }));

      const types = found.results.map(({ eventType }) => String(eventType));
      expect(types).toEqual(expect.arrayContaining(['Metric', 'Transaction', 'SyntheticCheck']));
      expect(found).toMatchObject({ totalResult: null, metadata: { facets: null, messages: [] } });
      for (const type of types.filter((one) => one !== 'Metric')) {
        expect(nrql(`SELECT count(*) AS n FROM ${type} ${dayRange}`).results).not.toEqual([
          { n: 0 },
        ]);
      }
    },
  );

  it('is not meant by what is spelt otherwise', () => {
    const { ask } = aNerdgraphAccount();
    const document =
      '{ actor { account(id: 1234567) { nrql(query: "SHOW EVENT TYPE") { results } } } }';

    expect(ask(document)).toMatchObject({
      errors: [{ extensions: { errorClass: 'NOT_SIMULATED' } }],
    });
  });
});

interface Found {
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

function nrqlOf(answer: unknown): Found {
  return (answer as { data: { actor: { account: { nrql: Found } } } }).data.actor.account.nrql;
}
