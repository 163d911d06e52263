import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
import { sleep } from '../../../src/model/clock.ts';
import { operations } from '../../../src/model/telemetry.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, held, neverAborted, type Step, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

/** A 429 and others that ask for the shortest pause. */
const soon = { 'retry-after': '0' };
const retryable = new Set(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);

describe('a request that fails', () => {
  it.each(failureReasons.map((reason) => ({ reason, attempts: retryable.has(reason) ? 3 : 1 })))(
    'is sent $attempts times when it keeps failing with $reason',
    async ({ reason, attempts }) => {
      const errors = Array.from({ length: attempts }, () => new ApiError(reason, 'no'));
      const wire = scripted(...errors);
      const bench = aSendBench(wire.send);

      const outcome = bench.outcomeOf();
      await bench.clock.advance(10_000);

      expect(await outcome).toBe(errors.at(-1));
      expect(wire.requests).toHaveLength(attempts);
    },
  );

  it.each([
    ...[200, 302, 401, 403, 404, 422].map((status) => ({ status, attempts: 1 })),
    ...[429, 500, 503].map((status) => ({ status, attempts: 3 })),
  ])('is sent $attempts times when it keeps getting $status', async ({ status, attempts }) => {
    const wire = scripted(...Array.from({ length: attempts }, () => anAnswer(status, soon)));
    const bench = aSendBench(wire.send);

    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(status);
    expect(wire.requests).toHaveLength(attempts);
  });

  it.each([
    ...operations.map((operation) => ({ what: operation, request: { operation }, attempts: 3 })),
    { what: 'nobody waits for it', request: { isOptional: true }, attempts: 1 } as const,
    { what: 'it is a retry itself', request: { isRepeated: true }, attempts: 1 } as const,
  ])('is sent $attempts times: $what', async ({ request, attempts }) => {
    const wire = scripted(...Array.from({ length: attempts }, () => anAnswer(500)));
    const bench = aSendBench(wire.send);

    const outcome = bench.outcomeOf(request);
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(500);
    expect(wire.requests).toHaveLength(attempts);
  });

  it('gives the answer of the attempt that succeeds, and names why the others failed', async () => {
    const wire = scripted(anAnswer(502), new ApiError('reset', 'no'), anAnswer(200));
    const bench = aSendBench(wire.send);

    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(200);
    expect(wire.requests.map(({ attempt, retriedFor }) => [attempt, retriedFor])).toEqual([
      [undefined, undefined],
      [2, 'server'],
      [3, 'reset'],
    ]);
  });

  it.each([{ status: 429 }, { status: 500 }])(
    'is not sent again once the caller has aborted, even after a $status',
    async ({ status }) => {
      const controller = new AbortController();
      const reason = new ApiError('timeout', 'the poll took too long');
      const wire = scripted(async () => {
        controller.abort(reason);
        return anAnswer(status);
      });
      const bench = aSendBench(wire.send);

      expect(await bench.outcomeOf({}, controller.signal)).toBe(reason);
      expect(wire.requests).toHaveLength(1);
      expect(bench.clock.pendingTimers()).toBe(0);
    },
  );

  it('is not sent again after a foreign error, whatever it looks like', async () => {
    const error = Object.assign(new Error('not ours'), { reason: 'connect' });

    expect(await aSendBench(scripted(error).send).outcomeOf()).toBe(error);
  });
});

describe('the time of a retry', () => {
  it.each([
    { random: 0, sentAtMs: [0, 0, 0] },
    { random: 0.5, sentAtMs: [0, 500, 1500] },
    { random: 0.999, sentAtMs: [0, 999, 2997] },
  ])('is spread over one, then two seconds (random $random)', async ({ random, sentAtMs }) => {
    const bench = aSendBench(async () => anAnswer(500), { random });

    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);
    await outcome;

    expect(bench.sentAtMs).toEqual(sentAtMs);
  });

  it.each<{ what: string; step: Step; random?: number; againAtMs: number }>([
    {
      what: 'the pause that a 429 asks for is over',
      step: anAnswer(429, { 'retry-after': '7' }),
      random: 0.9,
      againAtMs: 7500,
    },
    { what: 'a 503 asks for', step: anAnswer(503, { 'retry-after': '7' }), againAtMs: 7500 },
    {
      what: 'a 503 asks for, in words',
      step: anAnswer(503, { 'retry-after': 'Tue, 01 Sep 2026 10:00:37 GMT' }),
      againAtMs: 7500,
    },
    {
      what: 'chance wants if that has passed',
      step: anAnswer(503, { 'retry-after': '-7' }),
      againAtMs: 500,
    },
    {
      what: 'chance wants if nobody can read it',
      step: anAnswer(503, { 'retry-after': 'soon' }),
      againAtMs: 500,
    },
  ])('is when $what', async ({ step, random, againAtMs }) => {
    const bench = aSendBench(
      scripted(step, anAnswer(200)).send,
      random === undefined ? {} : { random },
    );

    const outcome = bench.outcomeOf();
    await bench.clock.advance(120_000);

    expect(await outcome).toBe(200);
    expect(bench.sentAtMs).toEqual([0, againAtMs]);
  });

  /** What the first attempt does, so long that another one would begin too late, or just not. */
  const lasting =
    (ms: number) =>
    async ({ clock }: SendBench): Promise<ApiResponse> => {
      await sleep(clock, ms, neverAborted);
      return anAnswer(500);
    };
  const pausing =
    (untilMs: number) =>
    async ({ calls }: SendBench): Promise<ApiResponse> => {
      calls.key.throttled(aThrottled(untilMs));
      return anAnswer(429, soon);
    };
  const asking = (retryAfter: string) => async (): Promise<ApiResponse> =>
    anAnswer(503, { 'retry-after': retryAfter });
  it.each([
    { what: 'the first answer takes long', first: lasting(119_499), attempts: 2 },
    { what: 'the first answer takes too long', first: lasting(119_500), attempts: 1 },
    { what: 'the pause of the key is long', first: pausing(119_999), attempts: 2 },
    { what: 'the pause of the key is too long', first: pausing(120_000), attempts: 1 },
    { what: 'a 503 asks for a long wait', first: asking('119'), attempts: 2 },
    { what: 'a 503 asks for too long a wait', first: asking('120'), attempts: 1 },
    { what: 'a 503 asks for ever', first: asking('9'.repeat(400)), attempts: 1 },
  ])('is within two minutes, $attempts attempts: $what', async ({ first, attempts }) => {
    const wire = scripted(async () => first(bench), anAnswer(200));
    const bench: SendBench = aSendBench(wire.send);
    bench.transport.reconfigure({ apiKeyHeader: 'Api-Key', timeoutMs: 600_000 });

    const outcome = bench.outcomeOf();
    await bench.clock.advance(600_000);
    await outcome;

    expect(wire.requests).toHaveLength(attempts);
  });
});

describe('the plan', () => {
  it('lets as many failed requests a minute be sent again as it leaves budget for, and what is a retry itself takes none of it', async () => {
    const bench = aSendBench(async () => anAnswer(500), { random: 0 });
    bench.calls.plan(2);
    const sent: number[] = [];

    for (const waitMs of [0, 30_000, 30_000]) {
      await bench.clock.advance(waitMs);
      const own = { isRepeated: true };
      await Promise.all([own, own, {}, {}].map(async (request) => bench.outcomeOf(request)));
      sent.push(bench.sentAtMs.length);
    }

    expect(sent).toEqual([6, 10, 16]);
  });

  it.each([
    { what: 'that leaves nothing', free: 0, request: {} },
    {
      what: 'whatever it leaves, for what is a retry itself',
      free: 9,
      request: { isRepeated: true },
    },
  ])('does not limit what follows a 429: $what', async ({ free, request }) => {
    const wire = scripted(anAnswer(429, soon), anAnswer(429, soon), anAnswer(500));
    const bench = aSendBench(wire.send);
    bench.calls.plan(free);

    const outcome = bench.outcomeOf(request);
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(500);
    expect(wire.requests).toHaveLength(3);
  });

  it('is not used up by what its caller gave up: that has not failed', async () => {
    const bench = aSendBench(held().send);
    bench.calls.plan(2);
    const poll = new AbortController();
    const outcome = bench.outcomeOf({}, poll.signal);
    await bench.clock.advance(5000);

    poll.abort(new ApiError('timeout', 'the poll did not end within 5 s'));
    await outcome;

    expect([bench.calls.mayRetry(), bench.calls.mayRetry()]).toEqual([true, true]);
  });
});
