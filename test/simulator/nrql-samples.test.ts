import { describe, expect, it } from 'vitest';
import { twoApplications } from './nerdgraph-account.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 55);
const range = `SINCE ${toMs - 300_000} UNTIL ${toMs}`;

describe('NRQL about events', () => {
  it.each([
    [
      "count(*) AS v FROM Transaction FACET CASES(WHERE appName = 'shop' AS s, host LIKE 'm%') AS k",
      [600, 250],
    ],
    [
      "count(*) AS v FROM Transaction FACET if(appName = 'shop', 'large', 'small') AS size",
      [600, 250],
    ],
    [
      "sum(if(result = 'FAILED', 1, 0)) / count(*) AS v FROM SyntheticCheck WHERE monitorName = 'Checkout page' AND locationLabel = 'Frankfurt, DE'",
      [0.2],
    ],
    [
      'rate(filter(count(*), WHERE error IS TRUE), 1 minute) AS v FROM AwsLambdaInvocation FACET aws.lambda.functionName',
      [0, 1],
    ],
    ['count(*) AS v FROM Transaction, TransactionError', [858]],
    ['count(apm.mobile.application.launch.count) AS v FROM Metric FACET appName', [60, 60]],
    ['percentile(cpuPercent, 50) * 0 AS v FROM SystemSample', [0]],
    ['max(x) AS v FROM Transactions', [null]],
    ['count(*) AS v FROM Transactions FACET appName', []],
  ] as const)('is answered: SELECT %s', (text, values) => {
    const { results } = twoApplications().nrql(`SELECT ${text} ${range}`);

    expect(results.map(({ v }) => v)).toEqual(values);
  });

  it('has calls with an error that take as long as the others', () => {
    const text = "average(duration) AS v FROM Transaction WHERE appName = 'shop' FACET error";
    const { results } = twoApplications().nrql(`SELECT ${text} ${range}`);
    const [one, other] = results.map(({ v }) => Number(v));

    expect((one ?? 0) / (other ?? 0)).toBeCloseTo(1, 1);
  });
});
