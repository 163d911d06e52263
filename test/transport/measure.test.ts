import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { createMeasure } from '../../src/transport/measure.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  anAnswer,
  aRequest,
  createRecordingObserver,
  held,
  neverAborted,
  scripted,
} from './fakes.ts';

describe('createMeasure', () => {
  it('times a request on the monotonic clock', async () => {
    const clock = createFakeClock();
    const observer = createRecordingObserver();
    const next = held();
    const call = createMeasure({ clock, observer }).decorate(next.send)(aRequest(), neverAborted);

    await clock.advance(250);
    clock.jumpWall(3_600_000);
    next.answer();
    await call;

    expect(observer.events).toEqual(['started host_metrics', 'ended host_metrics 200 0.25']);
  });

  it.each([
    { status: 204, failed: [] },
    { status: 302, failed: ['failed list_hosts redirect'] },
    { status: 401, failed: ['failed list_hosts auth'] },
    { status: 404, failed: ['failed list_hosts not_found'] },
    { status: 422, failed: ['failed list_hosts client'] },
    { status: 429, failed: ['failed list_hosts throttled', 'throttled'] },
    { status: 503, failed: ['failed list_hosts server'] },
  ])('counts a $status under its status, and as $failed', async ({ status, failed }) => {
    const observer = createRecordingObserver();
    const measure = createMeasure({ clock: createFakeClock(), observer });

    await measure.decorate(scripted(anAnswer(status)).send)(aRequest('list_hosts'), neverAborted);

    expect(observer.events).toEqual([
      'started list_hosts',
      ...failed,
      `ended list_hosts ${status} 0`,
    ]);
  });

  it.each([
    {
      failure: new ApiError('dns', 'no such host'),
      events: ['failed list_hosts dns', 'ended list_hosts dns 0'],
    },
    {
      failure: new ApiError('not_json', 'compressed', { status: 200 }),
      events: ['failed list_hosts not_json', 'ended list_hosts 200 0'],
    },
    { failure: new Error('shutting down'), events: ['ended list_hosts aborted 0'] },
  ])('counts a request that ends with "$failure.message"', async ({ failure, events }) => {
    const observer = createRecordingObserver();
    const measure = createMeasure({ clock: createFakeClock(), observer });

    const call = measure.decorate(scripted(failure).send)(aRequest('list_hosts'), neverAborted);

    await expect(call).rejects.toBe(failure);
    expect(observer.events).toEqual(['started list_hosts', ...events]);
  });

  it('knows how many requests are in flight', async () => {
    const measure = createMeasure({
      clock: createFakeClock(),
      observer: createRecordingObserver(),
    });
    const next = held();
    const send = measure.decorate(next.send);
    const controller = new AbortController();

    const answered = send(aRequest(), neverAborted);
    const aborted = send(aRequest(), controller.signal).catch(() => undefined);
    const during = measure.requestsInFlight();
    next.answer();
    await answered;
    const afterAnswer = measure.requestsInFlight();
    controller.abort();
    await aborted;

    expect([during, afterAnswer, measure.requestsInFlight()]).toEqual([2, 1, 0]);
  });
});
