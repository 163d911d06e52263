import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
import { sleep } from '../../../src/model/clock.ts';
import { operations } from '../../../src/model/telemetry.ts';
import type { ApiRequest, ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, held, neverAborted, type Step, scripted } from './fakes.ts';
import { aSendBench, type SendBench } from './send-bench.ts';

/** A 429 and others that ask for the shortest pause. */
const soon = { 'retry-after': '0' };
const retryable = new Set(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);

/** What becomes of a request that always ends so, and how often it is sent. */
async function repeated(step: Step, request?: Partial<ApiRequest>) {
  const bench = aSendBench(scripted(step, step, step).send);
  const outcome = bench.outcomeOf(request);
  await bench.clock.advance(10_000);
  return { outcome: await outcome, attempts: bench.sentAtMs.length };
}

describe('a request that fails', () => {
  it.each(failureReasons)('is sent three times if that may help: %s', async (reason) => {
    const error = new ApiError(reason, 'no');
    const attempts = retryable.has(reason) ? 3 : 1;

    expect(await repeated(error)).toEqual({ outcome: error, attempts });
  });

  it.each([
    ...[200, 302, 401, 403, 404, 422].map((status) => [status, 1] as const),
    ...[429, 500, 503].map((status) => [status, 3] as const),
  ])('with %d is sent %d times', async (status, attempts) => {
    expect(await repeated(anAnswer(status, soon))).toEqual({ outcome: status, attempts });
  });

  it.each<[string, Partial<ApiRequest>, number]>([
    ...operations.map((operation): [string, object, number] => [operation, { operation }, 3]),
    ['nobody waits for it', { isOptional: true }, 1],
    ['it is a retry itself', { isRepeated: true }, 1],
  ])('is sent as often as is worth it: %s', async (_, request, attempts) => {
    expect(await repeated(anAnswer(500), request)).toEqual({ outcome: 500, attempts });
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

  it.each([429, 500])('is not sent again once its caller has aborted: %d', async (status) => {
    const controller = new AbortController();
    const reason = new ApiError('timeout', 'the poll took too long');
    const bench = aSendBench(async () => {
      controller.abort(reason);
      return anAnswer(status);
    });

    expect(await bench.outcomeOf({}, controller.signal)).toBe(reason);
    expect([bench.sentAtMs.length, bench.clock.pendingTimers()]).toEqual([1, 0]);
  });

  it('is not sent again after a foreign error, whatever it looks like', async () => {
    const error = Object.assign(new Error('not ours'), { reason: 'connect' });

    expect(await repeated(error)).toEqual({ outcome: error, attempts: 1 });
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

  it.each([
    ['the pause that a 429 asks for is over', 429, '7', 0.9, 7500],
    ['a 503 asks for', 503, '7', 0.5, 7500],
    ['a 503 asks for, in words', 503, 'Tue, 01 Sep 2026 10:00:37 GMT', 0.5, 7500],
    ['chance wants if that has passed', 503, '-7', 0.5, 500],
    ['chance wants if nobody can read it', 503, 'soon', 0.5, 500],
  ])('is when %s', async (_, status, retryAfter, random, againAtMs) => {
    const wire = scripted(anAnswer(status, { 'retry-after': retryAfter }), anAnswer(200));
    const bench = aSendBench(wire.send, { random });
    const outcome = bench.outcomeOf();
    await bench.clock.advance(120_000);

    expect([await outcome, ...bench.sentAtMs]).toEqual([200, 0, againAtMs]);
  });

  /** What the first attempt does, so long that another one would begin too late, or just not. */
  type First = (bench: SendBench) => Promise<ApiResponse>;
  const lasting =
    (ms: number): First =>
    async ({ clock }) => {
      await sleep(clock, ms, neverAborted);
      return anAnswer(500);
    };
  const pausing =
    (untilMs: number): First =>
    async ({ calls }) => {
      calls.key.throttled(aThrottled(untilMs));
      return anAnswer(429, soon);
    };
  const asking =
    (retryAfter: string): First =>
    async () =>
      anAnswer(503, { 'retry-after': retryAfter });
  it.each([
    ['the first answer takes long', lasting(119_499), 2],
    ['the first answer takes too long', lasting(119_500), 1],
    ['the pause of the key is long', pausing(119_999), 2],
    ['the pause of the key is too long', pausing(120_000), 1],
    ['a 503 asks for a long wait', asking('119'), 2],
    ['a 503 asks for too long a wait', asking('120'), 1],
    ['a 503 asks for ever', asking('9'.repeat(400)), 1],
  ])('is within two minutes: %s', async (_, first, attempts) => {
    const bench: SendBench = aSendBench(scripted(async () => first(bench), anAnswer(200)).send);
    bench.transport.reconfigure({ apiKeyHeader: 'Api-Key', timeoutMs: 600_000 });
    const outcome = bench.outcomeOf();
    await bench.clock.advance(600_000);
    await outcome;

    expect(bench.sentAtMs).toHaveLength(attempts);
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
    { what: 'for what is a retry itself', free: 9, request: { isRepeated: true } },
  ])('does not limit what follows a 429: $what', async ({ free, request }) => {
    const wire = scripted(anAnswer(429, soon), anAnswer(429, soon), anAnswer(500));
    const bench = aSendBench(wire.send);
    bench.calls.plan(free);
    const outcome = bench.outcomeOf(request);
    await bench.clock.advance(10_000);

    expect([await outcome, wire.requests.length]).toEqual([500, 3]);
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
