import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import {
  type AccountTransport,
  createAccountTransport,
} from '../../src/transport/account-transport.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { aScheduler, createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRequest,
  createFakeKeyProvider,
  createRecordingObserver,
  held,
  neverAborted,
  scripted,
} from './fakes.ts';

function setUp(
  wire: Transport,
  {
    concurrency,
    statusOf,
  }: { concurrency?: number; statusOf?: (answer: ApiResponse) => number } = {},
) {
  const clock = createFakeClock();
  const keyProvider = createFakeKeyProvider();
  const turn = createFakeTurn({ clock, apiKey: () => keyProvider.current() });
  const first =
    concurrency === undefined
      ? turn
      : aScheduler({ requestsPerMinute: 800, concurrency }, clock).first;
  const observer = createRecordingObserver();
  const skews: (number | undefined)[] = [];
  const keysSent: unknown[] = [];
  let closed = 0;
  const account: AccountTransport = createAccountTransport(
    {
      baseUrl: 'https://api.newrelic.com',
      apiKeyHeader: 'Api-Key',
      timeoutMs: 30_000,
    },
    {
      clock,
      membership: turn,
      first,
      observer,
      keyProvider,
      random: () => 0.5,
      ...(statusOf && { statusOf }),
      events: {
        throttled: () => undefined,
        clockSkewed: (skew) => skews.push(skew?.ms),
      },
      raw: {
        send: async (request, headers, signal) => {
          keysSent.push(headers['Api-Key']);
          return wire(request, signal);
        },
        close: async () => {
          closed += 1;
        },
      },
    },
  );
  return {
    account,
    clock,
    turn,
    observer,
    keyProvider,
    keysSent,
    skews,
    closed: () => closed,
  };
}

function countOf(events: readonly string[], start: string): number {
  return events.filter((event) => event.startsWith(start)).length;
}

describe('createAccountTransport', () => {
  it('gives the answer of one paced and measured request', async () => {
    const { account, turn, observer, keysSent } = setUp(scripted(anAnswer()).send);

    const answer = await account.send(aRequest(), neverAborted);

    expect(answer.status).toBe(200);
    expect(keysSent).toEqual(['key-1']);
    expect([turn.delaysMs, turn.released]).toEqual([[0], [true]]);
    expect(observer.events).toEqual(['started host_metrics', 'ended host_metrics 200 0']);
  });

  it('paces and measures every attempt, also those after a failure and after a new key', async () => {
    const wire = scripted(new ApiError('reset', 'no'), anAnswer(401), anAnswer(503), anAnswer());
    const { account, clock, turn, observer, keyProvider, keysSent } = setUp(wire.send);
    keyProvider.rotate('key-2');

    const call = account.send(aRequest(), neverAborted);
    await clock.advance(10_000);
    const answer = await call;

    expect(answer.status).toBe(200);
    expect(keysSent).toEqual(['key-1', 'key-1', 'key-2', 'key-2']);
    expect(turn.delaysMs).toEqual([0, 500, 0, 1000]);
    expect(turn.released).toEqual([false, true, true, true]);
    expect(countOf(observer.events, 'started')).toBe(4);
    expect(account.retries()).toBe(3);
    expect(observer.events.filter((event) => event.startsWith('retried'))).toEqual([
      'retried host_metrics reset',
      'retried host_metrics auth',
      'retried host_metrics server',
    ]);
  });

  it('treats every answer by the status that it should have had', async () => {
    const said = [500, 429, 200];
    const wire = scripted(anAnswer(), anAnswer(), anAnswer());
    const statusOf = (): number => said.shift() ?? 0;
    const { account, clock, turn, observer } = setUp(wire.send, { statusOf });

    const call = account.send(aRequest(), neverAborted);
    await clock.advance(120_000);
    const answer = await call;

    expect(answer.status).toBe(200);
    expect(turn.throttled).toHaveLength(1);
    expect(observer.events.filter((event) => /^(?:ended|retried)/u.test(event))).toEqual([
      'ended host_metrics 500 0',
      'retried host_metrics server',
      'ended host_metrics 429 0',
      'retried host_metrics throttled',
      'ended host_metrics 200 0',
    ]);
  });

  it('ends every attempt at the deadline, and tries again', async () => {
    const { account, clock, observer } = setUp(() => new Promise(() => undefined));

    const failure = account.send(aRequest(), neverAborted).catch((error: unknown) => error);
    await clock.advance(120_000);

    expect(await failure).toMatchObject({ reason: 'timeout' });
    expect(countOf(observer.events, 'ended host_metrics timeout 30')).toBe(3);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('holds the requests that wait for a slot while a 429 keeps the account away', async () => {
    const wire = held();
    const { account, clock, observer } = setUp(wire.send, { concurrency: 1 });
    const calls = [1, 2, 3].map(() => account.send(aRequest(), neverAborted));
    await settle();

    wire.answer(anAnswer(429, { 'retry-after': '30' }));
    await clock.advance(30_499);
    const sentDuringPause = wire.requests.length;
    await clock.advance(1);
    for (let answered = 0; answered < calls.length; answered += 1) {
      wire.answer();
      await clock.advance(3000);
    }
    const answers = await Promise.all(calls);

    expect(sentDuringPause).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(countOf(observer.events, 'throttled')).toBe(1);
  });

  it('says until when it stays away, in wall time', async () => {
    const { account, clock } = setUp(scripted(anAnswer(429, { 'retry-after': '200' })).send);
    const startMs = clock.wallMs();
    const before = account.backoffUntilMs();

    await account.send(aRequest(), neverAborted);
    const during = account.backoffUntilMs();
    await clock.advance(200_500);

    expect([before, during, account.backoffUntilMs()]).toEqual([
      undefined,
      startMs + 200_500,
      undefined,
    ]);
  });

  it('never has more requests in flight than allowed', async () => {
    const wire = held();
    const { account } = setUp(wire.send, { concurrency: 3 });
    const calls = Array.from({ length: 7 }, () => account.send(aRequest(), neverAborted));
    const inFlight: number[] = [];

    for (let answered = 0; answered < calls.length; answered += 1) {
      await settle();
      inFlight.push(account.requestsInFlight());
      wire.answer();
    }
    await Promise.all(calls);

    expect(inFlight).toEqual([3, 3, 3, 3, 3, 2, 1]);
    expect(account.requestsInFlight()).toBe(0);
  });

  it('ends all calls with the reason of their caller, and leaves no timer', async () => {
    const wire = held();
    const { account, clock } = setUp(wire.send, { concurrency: 1 });
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const calls: Promise<ApiResponse>[] = [1, 2, 3].map(() =>
      account.send(aRequest(), controller.signal),
    );
    const outcomes = Promise.allSettled(calls);
    await settle();

    controller.abort(reason);

    expect(await outcomes).toEqual(calls.map(() => ({ status: 'rejected', reason })));
    expect(wire.requests).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('lets any number of calls share one signal without a warning', async () => {
    const warnings: string[] = [];
    const listener = (warning: Error): void => {
      warnings.push(warning.name);
    };
    process.on('warning', listener);
    onTestFinished(() => {
      process.off('warning', listener);
    });
    const wire = held();
    const { account } = setUp(wire.send, { concurrency: 20 });
    const { signal } = new AbortController();

    const calls = Array.from({ length: 20 }, () => account.send(aRequest(), signal));
    await settle();
    wire.answerAll();
    await Promise.all(calls);

    expect(warnings).toEqual([]);
  });

  it.each([
    { what: 'agrees', aheadMs: 0, used: 'ours' },
    { what: 'is half a minute behind', aheadMs: -29_000, used: 'ours' },
    { what: 'is a minute ahead', aheadMs: 60_000, used: "the vendor's" },
    { what: 'is an hour behind', aheadMs: -3_600_000, used: "the vendor's" },
    { what: 'is a day ahead', aheadMs: 86_400_000, used: "the vendor's" },
    { what: 'is a year ahead', aheadMs: 365 * 86_400_000, used: 'ours' },
  ])("cuts windows by $used when the vendor's clock $what", async ({ aheadMs, used }) => {
    const { account, clock } = setUp(async () =>
      anAnswer(200, { date: new Date(clock.wallMs() + aheadMs).toUTCString() }),
    );

    for (let call = 0; call < 3; call += 1) await account.send(aRequest(), neverAborted);

    const expectedMs = used === 'ours' ? 0 : aheadMs;
    expect(account.vendorWallMs() - clock.wallMs()).toBeCloseTo(expectedMs, -3);
    expect(account.clockSkewSeconds()).toBe(used === 'ours' ? undefined : expectedMs / 1000);
  });

  it('closes its connections', async () => {
    const { account, closed } = setUp(scripted().send);

    await account.close();

    expect(closed()).toBe(1);
  });
});
