import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { type ThrottleNotice, throttle } from '../../src/transport/throttle.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { createVendorClock } from '../../src/transport/vendor-clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  anAnswer,
  aPermittedRequest,
  createFakeMembership,
  createRecordingObserver,
  neverAborted,
  scripted,
} from './fakes.ts';

function setUp() {
  const clock = createFakeClock();
  const membership = createFakeMembership({ clock });
  const observer = createRecordingObserver();
  const notices: ThrottleNotice[] = [];
  const vendorClock = createVendorClock({ clock, skewed: () => undefined });
  const decorate = throttle({
    clock,
    observer,
    vendorClock,
    throttled: (notice) => notices.push(notice),
  });
  const send = async (next: Transport, signal = neverAborted): Promise<ApiResponse> =>
    decorate(next)(aPermittedRequest(membership), signal);
  return { clock, membership, observer, notices, vendorClock, send };
}

describe('throttle', () => {
  it('pauses the key after a 429 for as long as it says', async () => {
    const { clock, membership, observer, send } = setUp();
    await clock.advance(5000);

    const answer = await send(scripted(anAnswer(429, { 'retry-after': '20' })).send);

    expect(answer.status).toBe(429);
    expect(membership.throttled).toEqual([{ sentMs: 5000, untilMs: 25_500, namesKeyLimit: false }]);
    expect(observer.events).toEqual(['throttled']);
  });

  it('counts the pause of a late answer from when the vendor gave it', async () => {
    const { clock, membership, send } = setUp();
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

    expect(membership.throttled).toEqual([{ sentMs: 0, untilMs: 20_500, namesKeyLimit: true }]);
  });

  it.each([
    { headers: { 'x-ratelimit-limit': '1000' }, cause: 'key_limit', untilMs: 60_000 },
    { headers: { 'x-ratelimit-remaining': '0' }, cause: 'key_limit', untilMs: 60_000 },
    { headers: { 'retry-after': '5' }, cause: 'overload', untilMs: 5500 },
    { headers: {}, cause: 'unknown', untilMs: 60_000 },
  ])('tells of a 429 with $headers that its cause is $cause', async (row) => {
    const { membership, notices, send } = setUp();

    await send(scripted(anAnswer(429, row.headers)).send);

    expect(notices).toEqual([{ cause: row.cause, untilMs: row.untilMs }]);
    expect(membership.throttled.map(({ namesKeyLimit }) => namesKeyLimit)).toEqual([
      row.cause === 'key_limit',
    ]);
  });

  it.each([{ status: 200 }, { status: 429 }, { status: 503 }])(
    "learns the vendor's clock from a $status",
    async ({ status }) => {
      const { clock, vendorClock, send } = setUp();
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
    const { membership, observer, notices, send } = setUp();
    const answer = anAnswer(row.status, { 'retry-after': '20', 'x-ratelimit-limit': '1000' });

    await send(scripted(answer).send);

    expect(membership.throttled).toEqual([]);
    expect([observer.events, notices]).toEqual([[], []]);
  });

  it('holds a request back until a pause is over, even when it grows', async () => {
    const { clock, membership, send } = setUp();
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

  it('stops waiting when the caller goes', async () => {
    const { clock, membership, send } = setUp();
    const controller = new AbortController();
    const reason = new Error('shutting down');
    membership.pause(10_000);

    const call = send(scripted().send, controller.signal);
    controller.abort(reason);

    await expect(call).rejects.toBe(reason);
    expect(clock.pendingTimers()).toBe(0);
  });
});
