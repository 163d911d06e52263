import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { throttle } from '../../src/transport/throttle.ts';
import type { ApiResponse } from '../../src/transport/transport.ts';
import { createVendorClock } from '../../src/transport/vendor-clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRefusal,
  aRequest,
  createFakePacer,
  createRecordingObserver,
  neverAborted,
  scripted,
} from './fakes.ts';

function setUp() {
  const clock = createFakeClock();
  const pacer = createFakePacer();
  const observer = createRecordingObserver();
  const vendorClock = createVendorClock();
  return { clock, pacer, observer, decorate: throttle({ clock, pacer, observer, vendorClock }) };
}

describe('throttle', () => {
  it('pauses the account after a 429 for as long as it says', async () => {
    const { clock, pacer, observer, decorate } = setUp();
    await clock.advance(5000);

    const answer = await decorate(scripted(anAnswer(429, { 'retry-after': '20' })).send)(
      aRequest(),
      neverAborted,
    );

    expect(answer.status).toBe(429);
    expect(pacer.pausedUntilMs()).toBe(25_500);
    expect(observer.events).toEqual(['throttled']);
  });

  it('counts the pause of a late answer from when the vendor gave it', async () => {
    const { clock, pacer, decorate } = setUp();
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
    await decorate(next.send)(aRequest(), neverAborted);

    const call = decorate(next.send)(aRequest(), neverAborted);
    await clock.advance(25_000);
    await call;

    expect(pacer.refusals).toEqual([
      { sentMs: 0, untilMs: 20_500, minuteEndMs: 20_000, limitPerMinute: 1000 },
    ]);
  });

  it('tells what the vendor said of its limit', async () => {
    const { pacer, decorate } = setUp();
    const answer = anAnswer(429, { 'retry-after': '20', 'x-ratelimit-limit': '500' });

    await decorate(scripted(answer).send)(aRequest(), neverAborted);

    expect(pacer.refusals).toEqual([
      { sentMs: 0, untilMs: 20_500, minuteEndMs: 20_000, limitPerMinute: 500 },
    ]);
  });

  it('does not make up an end of the minute that the vendor did not name', async () => {
    const { pacer, decorate } = setUp();

    await decorate(scripted(anAnswer(429)).send)(aRequest(), neverAborted);

    expect(pacer.refusals).toEqual([
      { sentMs: 0, untilMs: 60_000, minuteEndMs: undefined, limitPerMinute: 1000 },
    ]);
  });

  it.each([{ status: 200 }, { status: 503 }])('does not pause after a $status', async (row) => {
    const { pacer, observer, decorate } = setUp();
    const answer = anAnswer(row.status, { 'retry-after': '20' });

    await decorate(scripted(answer).send)(aRequest(), neverAborted);

    expect(pacer.pausedUntilMs()).toBeUndefined();
    expect(observer.events).toEqual([]);
  });

  it('holds a request back until a pause is over, even when it grows', async () => {
    const { clock, pacer, decorate } = setUp();
    const next = scripted(anAnswer());
    pacer.refused(aRefusal(10_000));

    const call = decorate(next.send)(aRequest(), neverAborted);
    await clock.advance(9000);
    pacer.refused(aRefusal(20_000));
    await clock.advance(10_999);
    const sentDuringPause = next.requests.length;
    await clock.advance(1);
    await call;

    expect(sentDuringPause).toBe(0);
  });

  it('does not wait for a pause that is over', async () => {
    const { clock, pacer, decorate } = setUp();
    pacer.refused(aRefusal(10_000));
    await clock.advance(10_000);

    const answer = await decorate(scripted(anAnswer()).send)(aRequest(), neverAborted);

    expect(answer.status).toBe(200);
  });

  it('stops waiting when the caller goes', async () => {
    const { clock, pacer, decorate } = setUp();
    const controller = new AbortController();
    const reason = new Error('shutting down');
    pacer.refused(aRefusal(10_000));

    const call = decorate(scripted().send)(aRequest(), controller.signal);
    controller.abort(reason);

    await expect(call).rejects.toBe(reason);
    expect(clock.pendingTimers()).toBe(0);
  });
});
