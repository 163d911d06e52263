import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { sleep } from '../../../src/model/clock.ts';
import type { ApiRequest, Transport } from '../../../src/newrelic/calls/transport.ts';
import { nrqlDocument } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, neverAborted, scripted } from './fakes.ts';
import { aSendBench } from './send-bench.ts';

const target =
  '/v2/applications/31/hosts/45/metrics/data.json?names%5B%5D=HttpDispatcher&from=2026';
const host: ApiRequest = { operation: 'host_metrics', target };
const common = { account: 'production', operation: 'host_metrics' } as const;
const get = { ...common, method: 'GET', target };
const post = { ...common, method: 'POST', target: '/graphql' };

function query(ids: string): ApiRequest {
  const variables = { account: 7, nrql: `… IN (${ids}) SINCE 10 UNTIL 20`, timeout: 25 };
  const body = JSON.stringify({ query: nrqlDocument, variables });
  return { operation: 'host_metrics', target: '/graphql', body };
}

/** The fields of each line about one request, without those that nobody gave. */
async function fieldsOf(wire: Transport, request = host, pausedUntilMs = 0) {
  const bench = aSendBench(wire, { isDebugging: true });
  if (pausedUntilMs > 0) bench.calls.key.throttled(aThrottled(pausedUntilMs));
  const ended = bench.outcomeOf(request);
  await bench.clock.advance(10_000);
  await ended;
  const lines = bench.logger.lines.map(({ level, message }) => `${level} ${message}`);
  expect(new Set(lines)).toEqual(new Set(['debug call to New Relic']));
  return bench.logger.lines.map(({ fields }) => JSON.parse(JSON.stringify(fields)) as unknown);
}

describe('the log of calls', () => {
  const short = '{"account":7,"nrql":"… IN (1,2) SINCE 10 UNTIL 20","timeout":25}';
  const cut =
    /^\{"account":7,"nrql":"… IN \(31584797,.{600,700}…[\d,]+\) SINCE 10 UNTIL 20","timeout":25\}$/u;
  it.each<[string, ApiRequest, object]>([
    ['a GET', host, get],
    ['the variables of a query of NerdGraph', query('1,2'), { ...post, variables: short }],
    [
      'the beginning and the end of many',
      query('31584797,'.repeat(200)),
      { ...post, variables: expect.stringMatching(cut) },
    ],
  ])('has one line at debug: %s', async (_, request, fields) => {
    const times = { duration_ms: 0, waited_for_budget_ms: 0 };

    expect(await fieldsOf(scripted(anAnswer()).send, request)).toEqual([
      { ...fields, status: 200, bytes: 2, ...times, attempt: 1 },
    ]);
  });

  it('has a line for each attempt, with the reason of those that failed', async () => {
    const wire = scripted(new ApiError('reset', 'no answer'), anAnswer(503));

    expect(await fieldsOf(wire.send)).toMatchObject([
      { ...get, reason: 'reset', attempt: 1 },
      { ...get, reason: 'server', status: 503, attempt: 2 },
    ]);
  });

  it('has a line for a call that was given up', async () => {
    const wire = scripted(new Error('enough'));

    expect(await fieldsOf(wire.send)).toMatchObject([{ ...get, reason: 'aborted' }]);
  });

  it('tells how long the call waited for its permit, and how long for the answer', async () => {
    const bench = aSendBench(
      async () => {
        await sleep(bench.clock, 250, neverAborted);
        return anAnswer();
      },
      { isDebugging: true },
    );
    bench.calls.key.throttled(aThrottled(4000));
    const call = bench.send(host);
    await bench.clock.advance(4250);
    await call;

    const times = { waited_for_budget_ms: 4000, duration_ms: 250 };
    expect(bench.logger.lines).toMatchObject([{ fields: times }]);
  });

  it('is not there where nobody debugs', async () => {
    const bench = aSendBench(scripted(anAnswer()).send);
    await bench.send();

    expect(bench.logger.lines).toEqual([]);
  });
});
