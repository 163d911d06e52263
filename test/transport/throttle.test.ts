import { describe, expect, it } from 'vitest';
import { throttle } from '../../src/transport/throttle.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  anAnswer,
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
  return { clock, pacer, observer, decorate: throttle({ clock, pacer, observer }) };
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
    pacer.pauseUntil(10_000);

    const call = decorate(next.send)(aRequest(), neverAborted);
    await clock.advance(9000);
    pacer.pauseUntil(20_000);
    await clock.advance(10_999);
    const sentDuringPause = next.requests.length;
    await clock.advance(1);
    await call;

    expect(sentDuringPause).toBe(0);
  });

  it('does not wait for a pause that is over', async () => {
    const { clock, pacer, decorate } = setUp();
    pacer.pauseUntil(10_000);
    await clock.advance(10_000);

    const answer = await decorate(scripted(anAnswer()).send)(aRequest(), neverAborted);

    expect(answer.status).toBe(200);
  });

  it('stops waiting when the caller goes', async () => {
    const { clock, pacer, decorate } = setUp();
    const controller = new AbortController();
    const reason = new Error('shutting down');
    pacer.pauseUntil(10_000);

    const call = decorate(scripted().send)(aRequest(), controller.signal);
    controller.abort(reason);

    await expect(call).rejects.toBe(reason);
    expect(clock.pendingTimers()).toBe(0);
  });
});
