import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { sleep } from '../../src/model/clock.ts';
import { nrqlDocument } from '../../src/nerdgraph/graphql-client.ts';
import { createAccountTransport } from '../../src/transport/account-transport.ts';
import { createCallLog } from '../../src/transport/call-log.ts';
import type { ApiRequest, Transport } from '../../src/transport/transport.ts';
import { createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import {
  anAnswer,
  aRequest,
  createFakeKeyProvider,
  createRecordingObserver,
  neverAborted,
  scripted,
} from './fakes.ts';

interface CallLogBench {
  readonly send: Transport;
  readonly clock: FakeClock;
  /** Nothing is sent before this time. */
  readonly hold: (untilMs: number) => void;
  readonly logger: FakeLogger;
  /** The fields of each line, without those that nobody gave. */
  fields(): readonly unknown[];
}

function setUp(wire: Transport, { isDebugging = true } = {}): CallLogBench {
  const clock = createFakeClock();
  const logger = { ...createFakeLogger(), isDebugging };
  const keyProvider = createFakeKeyProvider();
  const turn = createFakeTurn({ clock, apiKey: () => keyProvider.current() });
  const account = createAccountTransport(
    {
      baseUrl: 'https://api.newrelic.com',
      apiKeyHeader: 'Api-Key',
      timeoutMs: 30_000,
    },
    {
      clock,
      membership: turn,
      first: turn,
      keyProvider,
      observer: createRecordingObserver(),
      random: () => 0.5,
      callLog: createCallLog('production', { clock, logger }),
      events: { throttled: () => undefined, clockSkewed: () => undefined },
      raw: {
        send: async (request, _headers, signal) => wire(request, signal),
        close: async () => undefined,
      },
    },
  );
  return {
    send: account.send,
    clock,
    hold: (ms) => turn.pause(ms),
    logger,
    fields: () => logger.lines.map(({ fields }) => JSON.parse(JSON.stringify(fields)) as unknown),
  };
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
    const bench = setUp(scripted(anAnswer()).send);

    const { body } = await bench.send(request, neverAborted);

    expect(bench.logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['debug', 'call to New Relic'],
    ]);
    const times = { duration_ms: 0, waited_for_budget_ms: 0 };
    expect(bench.fields()).toEqual([
      { ...fields, status: 200, bytes: Buffer.byteLength(body), ...times, attempt: 1 },
    ]);
  });

  it('has a line for each attempt, with the reason of those that failed', async () => {
    const wire = scripted(new ApiError('reset', 'no answer'), anAnswer(503), anAnswer());
    const bench = setUp(wire.send);

    const call = bench.send(host, neverAborted);
    await bench.clock.advance(10_000);
    await call;

    expect(bench.fields()).toMatchObject([
      { ...hostFields, reason: 'reset', attempt: 1 },
      { ...hostFields, reason: 'server', status: 503, attempt: 2 },
      { ...hostFields, status: 200, attempt: 3 },
    ]);
  });

  it('tells how long the call waited for its permit, and how long for the answer', async () => {
    const bench: CallLogBench = setUp(async (_request, signal) => {
      await sleep(bench.clock, 250, signal);
      return anAnswer();
    });
    bench.hold(4000);

    const call = bench.send(host, neverAborted);
    await bench.clock.advance(4250);
    await call;

    expect(bench.fields()).toMatchObject([{ waited_for_budget_ms: 4000, duration_ms: 250 }]);
  });

  it('has a line for a call that was given up', async () => {
    const controller = new AbortController();
    const bench = setUp(
      async (_request, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('enough'));
          });
        }),
    );

    const call = bench.send(host, controller.signal);
    const ended = call.catch((error: unknown) => error);
    await settle();
    controller.abort(new Error('enough'));

    expect(await ended).toMatchObject({ message: 'enough' });
    expect(bench.fields()).toMatchObject([{ ...hostFields, reason: 'aborted' }]);
  });

  it('is not there where nobody debugs', async () => {
    const bench = setUp(scripted(anAnswer()).send, { isDebugging: false });

    await bench.send(aRequest(), neverAborted);

    expect(bench.logger.lines).toEqual([]);
  });
});
