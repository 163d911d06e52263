import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type {
  ListedMetric,
  MetricListEnd,
  MetricListQuestion,
} from '../../src/model/metric-list.ts';
import { createMetricNames } from '../../src/tools/nrql-metric-names.ts';
import type { ApiRequest, ApiResponse } from '../../src/transport/transport.ts';
import { answerOf } from '../support/fake-transport.ts';

interface Asked extends MetricListEnd {
  readonly metrics: readonly ListedMetric[];
  readonly nrql: string;
}

async function ask(
  answer: ApiResponse | Error,
  question: Partial<MetricListQuestion> = {},
): Promise<Asked> {
  const requests: ApiRequest[] = [];
  const metrics: ListedMetric[] = [];
  const list = createMetricNames(
    { accountId: 1, timeoutMs: () => 30_000 },
    {
      observer: { failed: () => {} },
      vendorWallMs: () => 3_600_000.5,
      send: async (request) => {
        requests.push(request);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  );
  const end = await list(
    { applicationId: '11', hostId: undefined, like: undefined, ...question },
    {
      signal: new AbortController().signal,
      onPage: (page) => metrics.push(...page),
    },
  );
  const document = JSON.parse(requests[0]?.body ?? '') as { variables: { nrql: string } };
  return { ...end, metrics, nrql: document.variables.nrql };
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

  it('have the values that their names say, and are checked against the text', async () => {
    const { metrics, error, cut } = await ask(
      namesAnswer(['CPU/User Time', 'Custom/100', 'Custom/100%', 7, '']),
      { like: '100%' },
    );

    expect({ error, cut }).toEqual({ error: undefined, cut: undefined });
    expect(metrics).toEqual([{ name: 'Custom/100%', values: undefined }]);
  });

  it('are cut at 5000, whatever is left of them', async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `Custom/${index}`);

    expect((await ask(namesAnswer(names), { like: 'custom/1' })).cut).toBe('5000 names');
    expect((await ask(namesAnswer(names.slice(1)))).cut).toBeUndefined();
  });

  it.each([
    {
      what: 'no list',
      answer: namesAnswer('A'),
      message: /^metric names: the answer has no list of names/u,
    },
    {
      what: 'status 500',
      answer: answerOf('', { status: 500 }),
      message: /failed; try again\.$/u,
    },
    {
      what: 'too much',
      answer: answerOf('', { status: 413 }),
      message: /takes too long or returns too much: ask for less\.$/u,
    },
    {
      what: 'no answer',
      answer: new ApiError('timeout', 'too late'),
      message: /^too late$/u,
    },
  ])('fail after $what', async ({ answer, message }) => {
    const { metrics, error } = await ask(answer);

    expect(metrics).toEqual([]);
    expect(error?.message).toMatch(message);
  });

  it('reject with the reason of an abort', async () => {
    const reason = new Error('stopped');
    const list = createMetricNames(
      { accountId: 1, timeoutMs: () => 30_000 },
      {
        observer: { failed: () => {} },
        vendorWallMs: () => 0,
        send: async () => {
          throw new ApiError('reset', 'cut off');
        },
      },
    );

    const ending = list(
      { applicationId: '11', hostId: undefined, like: undefined },
      { signal: AbortSignal.abort(reason), onPage: () => {} },
    );

    await expect(ending).rejects.toBe(reason);
  });
});
