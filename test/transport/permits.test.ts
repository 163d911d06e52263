import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { operations } from '../../src/model/telemetry.ts';
import type { Throttled } from '../../src/rate-limit/rate-limiter.ts';
import { authorize, obeyPauses, pace } from '../../src/transport/permits.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { createVendorClock } from '../../src/transport/vendor-clock.ts';
import { createFakeMembership } from '../rate-limit/fakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { anAnswer, aPermittedRequest, aRequest, held, neverAborted, scripted } from './fakes.ts';

describe('pace', () => {
  it('lets the lists go before the values', async () => {
    const membership = createFakeMembership();
    const send = pace({ membership })(async () => anAnswer());

    for (const operation of operations) await send(aRequest(operation), neverAborted);

    expect(operations.filter((_operation, index) => membership.acquired[index] === true)).toEqual([
      'list_applications',
      'list_hosts',
    ]);
  });

  it('keeps the permit until the request has ended and releases it once', async () => {
    const membership = createFakeMembership();
    const next = held();

    const call = pace({ membership })(next.send)(aRequest(), neverAborted);
    await Promise.resolve();
    const releasedBefore = membership.released();
    next.answer();
    await call;

    expect(releasedBefore).toBe(0);
    expect(membership.released()).toBe(1);
  });

  it('releases the permit once when the request fails', async () => {
    const membership = createFakeMembership();
    const failure = new Error('broken');

    const call = pace({ membership })(scripted(failure).send)(aRequest(), neverAborted);

    await expect(call).rejects.toBe(failure);
    expect(membership.released()).toBe(1);
  });

  it('sends nothing without a permit', async () => {
    const membership = createFakeMembership();
    const reason = new Error('shutting down');
    const next = scripted();

    const call = pace({ membership })(next.send)(aRequest(), AbortSignal.abort(reason));

    await expect(call).rejects.toBe(reason);
    expect([next.requests.length, membership.released()]).toEqual([0, 0]);
  });
});

it.each([{ apiKeyHeader: 'Api-Key' }, { apiKeyHeader: 'X-Api-Key' }] as const)(
  'sends the key of the permit in $apiKeyHeader and changes nothing else',
  async ({ apiKeyHeader }) => {
    const sent: unknown[] = [];
    const requests = ['key-1', 'key-1', 'key-2', 'key-1'].map((key) =>
      aPermittedRequest(createFakeMembership({ apiKey: () => key })),
    );
    const send = authorize(
      { apiKeyHeader },
      {
        send: async (...args) => {
          sent.push(args);
          return anAnswer();
        },
      },
    );

    for (const request of requests) await send(request, neverAborted);

    expect(sent).toEqual(
      requests.map((request) => [request, { [apiKeyHeader]: request.permit.apiKey }, neverAborted]),
    );
  },
);

function aBench() {
  const clock = createFakeClock();
  const membership = createFakeMembership({ clock });
  const told: Throttled[] = [];
  const vendorClock = createVendorClock({ clock, skewed: () => undefined });
  const decorate = obeyPauses({ clock, vendorClock, throttled: (answer) => told.push(answer) });
  const send = async (next: Transport, signal = neverAborted): Promise<ApiResponse> =>
    decorate(next)(aPermittedRequest(membership), signal);
  return { clock, membership, told, vendorClock, send };
}

describe('obeyPauses', () => {
  it('pauses the key after a 429 for as long as the answer says', async () => {
    const { clock, membership, send } = aBench();
    await clock.advance(5000);

    const answer = await send(scripted(anAnswer(429, { 'retry-after': '20' })).send);

    expect(answer.status).toBe(429);
    expect(membership.throttled).toEqual([{ sentMs: 5000, untilMs: 25_500, cause: 'overload' }]);
  });

  it('counts the pause of a late answer from when the vendor gave it', async () => {
    const { clock, membership, send } = aBench();
    const startMs = clock.wallMs();
    const dateAfter = (ms: number): string => new Date(startMs + ms).toUTCString();
    const late = async (): Promise<ApiResponse> => {
      await sleep(clock, 25_000, neverAborted);
      return anAnswer(429, {
        date: dateAfter(1000),
        'x-ratelimit-reset': String((startMs + 20_000) / 1000),
      });
    };
    const next = scripted(anAnswer(200, { date: dateAfter(0) }), late);
    await send(next.send);

    const call = send(next.send);
    await clock.advance(25_000);
    await call;

    expect(membership.throttled).toEqual([{ sentMs: 0, untilMs: 20_500, cause: 'key_limit' }]);
  });

  it.each([
    { headers: { 'x-ratelimit-limit': '1000' }, cause: 'key_limit', untilMs: 60_000 },
    { headers: { 'x-ratelimit-remaining': '0' }, cause: 'key_limit', untilMs: 60_000 },
    { headers: { 'retry-after': '5' }, cause: 'overload', untilMs: 5500 },
    { headers: {}, cause: 'unknown', untilMs: 60_000 },
  ])('reports $cause as the cause of a 429 with $headers', async (row) => {
    const { membership, told, send } = aBench();

    await send(scripted(anAnswer(429, row.headers)).send);

    expect(told).toEqual([{ sentMs: 0, cause: row.cause, untilMs: row.untilMs }]);
    expect(membership.throttled).toEqual(told);
  });

  it('reports a 429 when the pause is in force already', async () => {
    const clock = createFakeClock();
    const membership = createFakeMembership({ clock });
    const vendorClock = createVendorClock({ clock, skewed: () => undefined });
    const pausesMs: (number | undefined)[] = [];
    const throttled = (): void => {
      pausesMs.push(membership.pausedUntilMs());
    };
    const next = scripted(anAnswer(429, { 'retry-after': '20' }));

    await obeyPauses({ clock, vendorClock, throttled })(next.send)(
      aPermittedRequest(membership),
      neverAborted,
    );

    expect(pausesMs).toEqual([20_500]);
  });

  it.each([{ status: 200 }, { status: 429 }, { status: 503 }])(
    "learns the vendor's clock from a $status",
    async ({ status }) => {
      const { clock, vendorClock, send } = aBench();
      const hourAhead = new Date(clock.wallMs() + 3_600_000).toUTCString();
      const answer = anAnswer(status, { date: hourAhead, 'retry-after': '0' });

      for (let call = 0; call < 3; call += 1) {
        const done = send(scripted(answer).send);
        await clock.advance(1000);
        await done;
      }

      expect(Math.round((vendorClock.skew()?.ms ?? 0) / 60_000)).toBe(60);
    },
  );

  it.each([{ status: 200 }, { status: 503 }])('does not pause after a $status', async (row) => {
    const { membership, told, send } = aBench();
    const answer = anAnswer(row.status, { 'retry-after': '20', 'x-ratelimit-limit': '1000' });

    await send(scripted(answer).send);

    expect([membership.throttled, told]).toEqual([[], []]);
  });

  it('holds a request back until a pause is over, even when it grows', async () => {
    const { clock, membership, send } = aBench();
    const next = scripted(anAnswer());
    membership.pause(10_000);

    const call = send(next.send);
    await clock.advance(9000);
    membership.pause(20_000);
    await clock.advance(10_999);
    const sentDuringPause = next.requests.length;
    await clock.advance(1);
    await call;

    expect(sentDuringPause).toBe(0);
  });

  it('stops waiting when the caller aborts', async () => {
    const { clock, membership, send } = aBench();
    const controller = new AbortController();
    const reason = new Error('shutting down');
    membership.pause(10_000);

    const call = send(scripted().send, controller.signal);
    controller.abort(reason);

    await expect(call).rejects.toBe(reason);
    expect(clock.pendingTimers()).toBe(0);
  });
});
