import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount } from './nerdgraph-account.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 55);
const calls = 'count(newrelic.timeslice.value)';
const document =
  'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results otherResult totalResult } } } }';

interface Rows {
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly otherResult: readonly Readonly<Record<string, unknown>>[] | null;
  readonly totalResult: readonly Readonly<Record<string, unknown>>[] | null;
}

function asked(text: string): Rows {
  const applications = [1, 2].map((id) => ({
    id,
    kind: 'web' as const,
    webRpm: 60 * id,
    hosts: 1,
  }));
  const account = aNerdgraphAccount({ applications, traffic: 'flat' });
  const answer = account.ask(document, { n: text }) as {
    data: { actor: { account: { nrql: Rows } } };
  };
  return answer.data.actor.account.nrql;
}

const query = (clauses: string, fromMs = toMs - 10 * 60_000): string =>
  `SELECT ${calls} AS n FROM Metric WHERE appId IN (1, 2) AND metricTimesliceName = 'HttpDispatcher' ${clauses} SINCE ${fromMs} UNTIL ${toMs}`;

describe('NRQL with TIMESERIES', () => {
  it('has the whole windows of the range, each as a query of its own would answer', () => {
    const { results } = asked(`${query('')} TIMESERIES 5 minutes SLIDE BY 60000`);

    expect(results).toHaveLength(6);
    expect(results[0]).toMatchObject({
      beginTimeSeconds: toMs / 1000 - 600,
      endTimeSeconds: toMs / 1000 - 300,
    });
    for (const { beginTimeSeconds: begin, endTimeSeconds: end, n } of results) {
      const [from, to] = [Number(begin) * 1000, Number(end) * 1000];
      const alone = asked(query('', from).replace(`UNTIL ${toMs}`, `UNTIL ${to}`));

      expect(alone.results).toEqual([{ n }]);
    }
  });

  it('has tumbling windows without SLIDE BY', () => {
    const { results } = asked(`${query('')} TIMESERIES 3 minutes`);

    expect(results.map(({ beginTimeSeconds: at }) => Number(at) - toMs / 1000)).toEqual([
      -600, -420, -240,
    ]);
  });

  it('has each group of the whole range in every window, and what is beyond LIMIT in sums', () => {
    const { results, otherResult, totalResult } = asked(
      `${query('FACET appId LIMIT 1')} TIMESERIES 5 minutes`,
    );

    expect(results).toMatchObject([
      { facet: '2', n: 600 },
      { facet: '2', n: 600 },
    ]);
    expect(otherResult).toMatchObject([{ n: 300 }, { n: 300 }]);
    expect(totalResult).toMatchObject([{ n: 900 }, { n: 900 }]);
  });
});
