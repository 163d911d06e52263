import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
import { operationNames } from '../../../src/model/telemetry.ts';
import type { ApiRequest } from '../../../src/newrelic/calls/transport.ts';
import { anAnswer, type Step, scripted } from './fakes.ts';
import { aSendBench } from './send-bench.ts';

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
  it.each(failureReasons.filter((reason) => reason !== 'throttled'))(
    'is sent twice if that may help: %s',
    async (reason) => {
      const error = new ApiError(reason, 'no');
      const attempts = retryable.has(reason) ? 2 : 1;

      expect(await repeated(error)).toEqual({ outcome: error, attempts });
    },
  );

  it.each([
    ...[200, 302, 401, 403, 404, 422].map((status) => [status, 1] as const),
    ...[500, 503].map((status) => [status, 2] as const),
  ])('with %d is sent %d times', async (status, attempts) => {
    expect(await repeated(anAnswer(status, soon))).toEqual({ outcome: status, attempts });
  });

  it('4.3 waits for the key as often as it is answered with 429', async () => {
    const refusals = Array.from({ length: 20 }, () => anAnswer(429, soon));
    const bench = aSendBench(scripted(...refusals, anAnswer(200)).send);
    const outcome = bench.outcomeOf();
    await bench.clock.advance(60 * 60_000);

    expect([await outcome, bench.sentAtMs.length]).toEqual([200, 21]);
  });

  it.each<[string, Partial<ApiRequest>, number]>([
    ...operationNames.map((operation): [string, object, number] => [operation, { operation }, 2]),
    ['nobody waits for it, or it is a retry itself', { mayRetry: false }, 1],
  ])('is sent as often as is worth it: %s', async (_, request, attempts) => {
    expect(await repeated(anAnswer(500), request)).toEqual({ outcome: 500, attempts });
  });

  it('gives the answer of the attempt that succeeds, and names why the others failed', async () => {
    const wire = scripted(anAnswer(502), anAnswer(429, soon), anAnswer(200));
    const bench = aSendBench(wire.send);
    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);

    expect(await outcome).toBe(200);
    expect(wire.requests.map(({ attempt, retriedFor }) => [attempt, retriedFor])).toEqual([
      [undefined, undefined],
      [2, 'server'],
      [3, 'throttled'],
    ]);
  });

  it.each([429, 500])('is not sent again once its caller has aborted: %d', async (status) => {
    const controller = new AbortController();
    const reason = new Error('the poll is not wanted any more');
    const bench = aSendBench(async () => {
      controller.abort(reason);
      return anAnswer(status);
    });

    expect(await bench.outcomeOf({}, controller.signal)).toBe(reason);
    await bench.clock.advance(0);
    expect([bench.sentAtMs.length, bench.clock.pendingTimers()]).toEqual([1, 0]);
  });

  it('is not sent again after a foreign error, whatever it looks like', async () => {
    const error = Object.assign(new Error('not ours'), { reason: 'connect' });

    expect(await repeated(error)).toEqual({ outcome: error, attempts: 1 });
  });
});

describe('the time of a retry', () => {
  it.each([
    { random: 0, sentAtMs: [0, 0] },
    { random: 0.5, sentAtMs: [0, 500] },
    { random: 0.999, sentAtMs: [0, 999] },
  ])('is spread over a second (random $random)', async ({ random, sentAtMs }) => {
    const bench = aSendBench(async () => anAnswer(500), { random });
    const outcome = bench.outcomeOf();
    await bench.clock.advance(10_000);
    await outcome;

    expect(bench.sentAtMs).toEqual(sentAtMs);
  });

  it.each([
    ['the pause that a 429 asks for is over', 429, '7', 0.9, 7500],
    ['a 503 asks for', 503, '1', 0.5, 1000],
    ['chance wants if that has passed', 503, '-7', 0.5, 500],
    ['chance wants if nobody can read it', 503, 'soon', 0.5, 500],
  ])('is when %s', async (_, status, retryAfter, random, againAtMs) => {
    const wire = scripted(anAnswer(status, { 'retry-after': retryAfter }), anAnswer(200));
    const bench = aSendBench(wire.send, { random });
    const outcome = bench.outcomeOf();
    await bench.clock.advance(120_000);

    expect([await outcome, ...bench.sentAtMs]).toEqual([200, 0, againAtMs]);
  });

  it.each(['2', '120', '9'.repeat(400)])(
    'is the next poll where a 503 asks for more than a second: %s',
    async (retryAfter) => {
      const bench = aSendBench(async () => anAnswer(503, { 'retry-after': retryAfter }));
      const outcome = bench.outcomeOf();
      await bench.clock.advance(600_000);

      expect([await outcome, bench.sentAtMs.length]).toEqual([503, 1]);
    },
  );
});
