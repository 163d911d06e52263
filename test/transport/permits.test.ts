import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { sleep } from '../../src/model/clock.ts';
import type { Throttled } from '../../src/model/permit.ts';
import { takeTurn } from '../../src/transport/permits.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { createVendorClock } from '../../src/transport/vendor-clock.ts';
import { createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { anAnswer, aRequest, held, neverAborted, scripted } from './fakes.ts';

function aBench() {
  const clock = createFakeClock();
  const turn = createFakeTurn({ clock });
  const told: Throttled[] = [];
  const vendorClock = createVendorClock({ clock, skewed: () => undefined });
  const throttled = (answer: Throttled): void => {
    told.push(answer);
  };
  const decorate = takeTurn({ first: turn, clock, vendorClock, throttled });
  const send = async (next: Transport, signal = neverAborted): Promise<ApiResponse> =>
    decorate(next)(aRequest(), signal);
  return { clock, turn, told, vendorClock, decorate, send };
}

describe('takeTurn', () => {
  it("takes the turn of the request's call, and of no call before all others", async () => {
    const { clock, turn, decorate } = aBench();
    const own = createFakeTurn({ clock });
    const send = decorate(async () => anAnswer());

    await send({ ...aRequest(), turn: own }, neverAborted);
    await send(aRequest('list_applications'), neverAborted);

    expect([own.delaysMs, turn.delaysMs]).toEqual([[0], [0]]);
  });

  it('keeps the permit until the request has ended and releases it once', async () => {
    const { turn, send } = aBench();
    const next = held();

    const call = send(next.send);
    await Promise.resolve();
    const releasedBefore = turn.released.length;
    next.answer();
    await call;

    expect([releasedBefore, turn.released]).toEqual([0, [true]]);
  });

  it.each([
    { what: 'without an answer', failure: new ApiError('reset', 'broken'), isAnswered: false },
    {
      what: 'with a bad one',
      failure: new ApiError('too_large', 'broken', { status: 200 }),
      isAnswered: true,
    },
    { what: 'as the caller wanted', failure: new Error('stopping'), isAnswered: false },
  ])('releases the permit once when the request fails $what', async ({ failure, isAnswered }) => {
    const { turn, send } = aBench();

    await expect(send(scripted(failure).send)).rejects.toBe(failure);

    expect(turn.released).toEqual([isAnswered]);
  });

  it('pauses the key after a 429 for as long as the answer says', async () => {
    const { clock, turn, send } = aBench();
    await clock.advance(5000);

    const answer = await send(scripted(anAnswer(429, { 'retry-after': '20' })).send);

    expect(answer.status).toBe(429);
    expect(turn.throttled).toEqual([{ sentMs: 5000, untilMs: 25_500, cause: 'overload' }]);
  });

  it('counts the pause of a late answer from when the vendor gave it', async () => {
    const { clock, turn, send } = aBench();
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

    expect(turn.throttled).toEqual([{ sentMs: 0, untilMs: 20_500, cause: 'key_limit' }]);
  });

  it('reports a 429 when the pause is in force already', async () => {
    const clock = createFakeClock();
    const turn = createFakeTurn({ clock });
    const vendorClock = createVendorClock({ clock, skewed: () => undefined });
    const pausesMs: (number | undefined)[] = [];
    const throttled = (): void => {
      pausesMs.push(turn.pausedUntilMs());
    };
    const next = scripted(anAnswer(429, { 'retry-after': '20' }));

    await takeTurn({ first: turn, clock, vendorClock, throttled })(next.send)(
      aRequest(),
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
    const { turn, told, send } = aBench();
    const answer = anAnswer(row.status, { 'retry-after': '20', 'x-ratelimit-limit': '1000' });

    await send(scripted(answer).send);

    expect([turn.throttled, told]).toEqual([[], []]);
  });
});
