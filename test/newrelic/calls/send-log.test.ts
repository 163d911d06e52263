import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { sleep } from '../../../src/model/clock.ts';
import type { ApiRequest, ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { nrqlDocument } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { settle } from '../../support/fake-clock.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, held, neverAborted, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

/** The fields of each line, without those that nobody gave. */
function fieldsOf({ logger }: SendBench): readonly unknown[] {
  return logger.lines.map(({ fields }) => JSON.parse(JSON.stringify(fields)) as unknown);
}

const host: ApiRequest = {
  operation: 'host_metrics',
  target: '/v2/applications/31/hosts/45/metrics/data.json?names%5B%5D=HttpDispatcher&from=2026',
};
const hostFields = {
  account: 'production',
  operation: 'host_metrics',
  method: 'GET',
  target: host.target,
};

function graphqlBody(ids: string): string {
  const nrql = `… IN (${ids}) SINCE 10 UNTIL 20`;
  return JSON.stringify({ query: nrqlDocument, variables: { account: 7, nrql, timeout: 25 } });
}

describe('the log of calls', () => {
  it.each([
    { what: 'a GET', request: host, fields: hostFields },
    {
      what: 'the variables of a query of NerdGraph',
      request: { operation: 'application_metrics', target: '/graphql', body: graphqlBody('1,2') },
      fields: {
        account: 'production',
        operation: 'application_metrics',
        method: 'POST',
        target: '/graphql',
        variables: '{"account":7,"nrql":"… IN (1,2) SINCE 10 UNTIL 20","timeout":25}',
      },
    },
    {
      what: 'the beginning and the end of many',
      request: {
        operation: 'application_metrics',
        target: '/graphql',
        body: graphqlBody('31584797,'.repeat(200)),
      },
      fields: {
        account: 'production',
        operation: 'application_metrics',
        method: 'POST',
        target: '/graphql',
        variables: expect.stringMatching(
          /^\{"account":7,"nrql":"… IN \(31584797,.{600,700}…[\d,]+\) SINCE 10 UNTIL 20","timeout":25\}$/u,
        ) as string,
      },
    },
  ] as const)('has one line at debug: $what', async ({ request, fields }) => {
    const bench = aSendBench(scripted(anAnswer()).send, { isDebugging: true });

    const { body } = await bench.send(request);

    expect(bench.logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['debug', 'call to New Relic'],
    ]);
    const times = { duration_ms: 0, waited_for_budget_ms: 0 };
    expect(fieldsOf(bench)).toEqual([
      { ...fields, status: 200, bytes: Buffer.byteLength(body), ...times, attempt: 1 },
    ]);
  });

  it('has a line for each attempt, with the reason of those that failed', async () => {
    const wire = scripted(new ApiError('reset', 'no answer'), anAnswer(503), anAnswer());
    const bench = aSendBench(wire.send, { isDebugging: true });

    const call = bench.send(host);
    await bench.clock.advance(10_000);
    await call;

    expect(fieldsOf(bench)).toMatchObject([
      { ...hostFields, reason: 'reset', attempt: 1 },
      { ...hostFields, reason: 'server', status: 503, attempt: 2 },
      { ...hostFields, status: 200, attempt: 3 },
    ]);
  });

  it('tells how long the call waited for its permit, and how long for the answer', async () => {
    const late = async (): Promise<ApiResponse> => {
      await sleep(bench.clock, 250, neverAborted);
      return anAnswer();
    };
    const bench: SendBench = aSendBench(late, { isDebugging: true });
    bench.calls.key.throttled(aThrottled(4000));

    const call = bench.send(host);
    await bench.clock.advance(4250);
    await call;

    expect(fieldsOf(bench)).toMatchObject([{ waited_for_budget_ms: 4000, duration_ms: 250 }]);
  });

  it('has a line for a call that was given up', async () => {
    const controller = new AbortController();
    const bench = aSendBench(held().send, { isDebugging: true });

    const ended = bench.outcomeOf(host, controller.signal);
    await settle();
    controller.abort(new Error('enough'));

    expect(await ended).toMatchObject({ message: 'enough' });
    expect(fieldsOf(bench)).toMatchObject([{ ...hostFields, reason: 'aborted' }]);
  });

  it('is not there where nobody debugs', async () => {
    const bench = aSendBench(scripted(anAnswer()).send);

    await bench.send();

    expect(bench.logger.lines).toEqual([]);
  });
});
