import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../src/model/api-error.ts';
import { sleep } from '../../src/model/clock.ts';
import { operations } from '../../src/model/telemetry.ts';
import { retry } from '../../src/transport/retry.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { anAnswer, aRequest, neverAborted, scripted } from './fakes.ts';

function setUp(random = 0.5) {
  const clock = createFakeClock();
  const membership = createFakeTurn({ clock });
  const retrying = retry({ clock, membership, random: () => random });
  /** Each request waits as long as it says. */
  const decorate = (next: Transport): Transport =>
    retrying(async (request, signal) => {
      if (request.delayMs !== undefined) await sleep(clock, request.delayMs, signal);
      return next(request, signal);
    });
  return { clock, membership, decorate };
}

async function outcomeOf(call: Promise<ApiResponse>): Promise<unknown> {
  return call.then(
    ({ status }) => status,
    (error: unknown) => error,
  );
}

const retryable = new Set(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);

describe('retry', () => {
  it.each(failureReasons.map((reason) => ({ reason, attempts: retryable.has(reason) ? 3 : 1 })))(
    'makes $attempts attempts at a request that keeps failing with $reason',
    async ({ reason, attempts }) => {
      const { clock, decorate } = setUp();
      const errors = Array.from({ length: attempts }, () => new ApiError(reason, 'no'));
      const next = scripted(...errors);

      const outcome = outcomeOf(decorate(next.send)(aRequest(), neverAborted));
      await clock.advance(10_000);

      expect(await outcome).toBe(errors.at(-1));
      expect(next.requests).toHaveLength(attempts);
    },
  );

  it.each([
    { status: 200, attempts: 1 },
    { status: 302, attempts: 1 },
    { status: 401, attempts: 1 },
    { status: 403, attempts: 1 },
    { status: 404, attempts: 1 },
    { status: 422, attempts: 1 },
    { status: 429, attempts: 3 },
    { status: 500, attempts: 3 },
    { status: 503, attempts: 3 },
  ])('makes $attempts attempts at a request that keeps getting $status', async (row) => {
    const { clock, decorate } = setUp();
    const next = scripted(...Array.from({ length: row.attempts }, () => anAnswer(row.status)));

    const outcome = outcomeOf(decorate(next.send)(aRequest(), neverAborted));
    await clock.advance(10_000);

    expect(await outcome).toBe(row.status);
    expect(next.requests).toHaveLength(row.attempts);
  });

  it('returns the answer of the attempt that succeeds, and names why the others failed', async () => {
    const { clock, decorate } = setUp();
    const next = scripted(anAnswer(502), new ApiError('reset', 'no'), anAnswer(200));

    const outcome = outcomeOf(decorate(next.send)(aRequest(), neverAborted));
    await clock.advance(10_000);

    expect(await outcome).toBe(200);
    expect(next.requests.map(({ attempt, retriedFor }) => [attempt, retriedFor])).toEqual([
      [undefined, undefined],
      [2, 'server'],
      [3, 'reset'],
    ]);
  });

  it.each([
    { random: 0, attemptsAtMs: [0, 0, 0] },
    { random: 0.5, attemptsAtMs: [0, 500, 1500] },
    { random: 0.999, attemptsAtMs: [0, 999, 2997] },
  ])('spreads attempts over one, then two seconds (random $random)', async (row) => {
    const { clock, decorate } = setUp(row.random);
    const attemptsAtMs: number[] = [];
    const next: Transport = async () => {
      attemptsAtMs.push(clock.monotonicMs());
      return anAnswer(500);
    };

    const outcome = outcomeOf(decorate(next)(aRequest(), neverAborted));
    await clock.advance(10_000);
    await outcome;

    expect(attemptsAtMs).toEqual(row.attemptsAtMs);
  });

  it('leaves the wait after a 429 to the rate limiter', async () => {
    const { clock, decorate } = setUp();
    const next = scripted(anAnswer(429), anAnswer(200));

    const call = decorate(next.send)(aRequest(), neverAborted);
    await clock.advance(0);
    const answer = await call;

    expect(answer.status).toBe(200);
    expect(clock.monotonicMs()).toBe(0);
  });

  it.each([
    { pausedUntilMs: 119_999, outcome: 200 },
    { pausedUntilMs: 120_000, outcome: 429 },
  ])('ends with $outcome when the pause lasts until $pausedUntilMs', async (row) => {
    const { clock, membership, decorate } = setUp();
    const next = scripted(anAnswer(429), anAnswer(200));
    membership.pause(row.pausedUntilMs);

    const outcome = outcomeOf(decorate(next.send)(aRequest(), neverAborted));
    await clock.advance(0);

    expect(await outcome).toBe(row.outcome);
  });

  it.each([
    { tookMs: 119_499, attempts: 2 },
    { tookMs: 119_500, attempts: 1 },
  ])('makes $attempts attempts when the first took $tookMs ms', async ({ tookMs, attempts }) => {
    const { clock, decorate } = setUp();
    let made = 0;
    const next: Transport = async () => {
      made += 1;
      await new Promise<void>((resolve) => {
        clock.after(tookMs, resolve);
      });
      return anAnswer(500);
    };

    const outcome = outcomeOf(decorate(next)(aRequest(), neverAborted));
    await clock.advance(600_000);
    await outcome;

    expect(made).toBe(attempts);
  });

  it.each([
    { says: 'seconds', retryAfter: '7', atMs: 7500 },
    { says: 'a date', retryAfter: 'Tue, 01 Sep 2026 10:00:37 GMT', atMs: 7500 },
    { says: 'a time that has passed', retryAfter: '-7', atMs: 500 },
    { says: 'nothing that can be read', retryAfter: 'soon', atMs: 500 },
  ])('waits for what the Retry-After of a 503 asks for: $says', async ({ retryAfter, atMs }) => {
    const { clock, decorate } = setUp();
    const sentAtMs: number[] = [];
    const next: Transport = async () => {
      sentAtMs.push(clock.monotonicMs());
      const headers = { 'retry-after': retryAfter };
      return sentAtMs.length === 1 ? anAnswer(503, headers) : anAnswer(200);
    };

    const outcome = outcomeOf(decorate(next)(aRequest(), neverAborted));
    await clock.advance(120_000);

    expect(await outcome).toBe(200);
    expect(sentAtMs).toEqual([0, atMs]);
  });

  it.each([
    { retryAfter: '119', attempts: 2 },
    { retryAfter: '120', attempts: 1 },
    { retryAfter: '9'.repeat(400), attempts: 1 },
  ])('makes $attempts attempts when a 503 says "$retryAfter"', async ({ retryAfter, attempts }) => {
    const { clock, decorate } = setUp();
    const next = scripted(anAnswer(503, { 'retry-after': retryAfter }), anAnswer(200));

    const outcome = outcomeOf(decorate(next.send)(aRequest(), neverAborted));
    await clock.advance(600_000);
    await outcome;

    expect(next.requests).toHaveLength(attempts);
  });

  it.each([
    ...operations.map((operation) => ({ operation, optional: {}, attempts: 3 })),
    { operation: 'list_hosts', optional: { isOptional: true }, attempts: 1 } as const,
  ])('makes $attempts attempts at $operation, $optional', async (row) => {
    const { clock, decorate } = setUp();
    const next = scripted(...Array.from({ length: row.attempts }, () => anAnswer(500)));

    const request = { ...aRequest(row.operation), ...row.optional };
    const outcome = outcomeOf(decorate(next.send)(request, neverAborted));
    await clock.advance(10_000);

    expect(await outcome).toBe(500);
    expect(next.requests).toHaveLength(row.attempts);
  });

  it.each([{ status: 429 }, { status: 500 }])(
    'sends nothing more once the caller has aborted, even after a $status',
    async ({ status }) => {
      const { decorate } = setUp();
      const controller = new AbortController();
      const reason = new ApiError('timeout', 'the poll took too long');
      const next = scripted(async () => {
        controller.abort(reason);
        return anAnswer(status);
      });

      const outcome = await outcomeOf(decorate(next.send)(aRequest(), controller.signal));

      expect(outcome).toBe(reason);
      expect(next.requests).toHaveLength(1);
    },
  );

  it('does not repeat a call that ended with a foreign error, whatever it looks like', async () => {
    const { decorate } = setUp();
    const error = Object.assign(new Error('not ours'), { reason: 'connect' });

    const outcome = await outcomeOf(decorate(scripted(error).send)(aRequest(), neverAborted));

    expect(outcome).toBe(error);
  });
});
