import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../../src/newrelic/calls/transport.ts';
import type { MetricListEnd, MetricListQuestion } from '../../src/tools/metric-list.ts';
import { createMetricNames } from '../../src/tools/nrql-metric-names.ts';
import { answerOf } from '../support/fake-transport.ts';

interface Asked extends MetricListEnd {
  readonly nrql: string;
}

async function ask(
  answer: ApiResponse,
  question: Partial<MetricListQuestion> = {},
): Promise<Asked> {
  const requests: ApiRequest[] = [];
  const list = createMetricNames(
    { accountId: 1, timeoutMs: 30_000 },
    {
      observer: { failed: () => {} },
      vendorClock: { wallMs: () => 3_600_000.5 },
      send: async (request) => {
        requests.push(request);
        return answer;
      },
    },
  );
  const end = await list(
    { applicationId: '11', hostId: undefined, like: undefined, ...question },
    {
      signal: new AbortController().signal,
      onPage: () => {},
    },
  );
  const document = JSON.parse(requests[0]?.body ?? '') as { variables: { nrql: string } };
  return { ...end, nrql: document.variables.nrql };
}

function namesAnswer(names: unknown): ApiResponse {
  const nrql = { results: [{ 'uniques.metricTimesliceName': names }], metadata: {} };
  return answerOf({ data: { actor: { account: { nrql } } } });
}

const select = 'SELECT uniques(metricTimesliceName, 5000) FROM Metric WHERE appId = 11';
const since = 'SINCE 0 UNTIL 3600000';

describe('the names of metrics of NerdGraph', () => {
  it.each([
    { what: 'an application', question: {}, nrql: `${select} ${since}` },
    {
      what: 'a host',
      question: { hostId: "o'neil\\1" },
      nrql: `${select} AND host = 'o\\'neil\\\\1' ${since}`,
    },
    {
      what: 'a part of the name',
      question: { like: "100% 'x'" },
      nrql: `${select} AND metricTimesliceName LIKE '%100% \\'x\\'%' ${since}`,
    },
  ])('are asked for by $what, for the last hour', async ({ question, nrql }) => {
    expect((await ask(namesAnswer([]), question)).nrql).toBe(nrql);
  });

  it('are cut at 5000, whatever is left of them', async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `Custom/${index}`);

    expect((await ask(namesAnswer(names), { like: 'custom/1' })).cut).toBe('5000 names');
    expect((await ask(namesAnswer(names.slice(1)))).cut).toBeUndefined();
  });
});
