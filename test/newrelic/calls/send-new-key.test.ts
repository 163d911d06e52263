import { describe, expect, it } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import { aThrottled } from './call-fakes.ts';
import { anAnswer, aRequest, held, scripted } from './fakes.ts';
import { aSendBench } from './send-bench.ts';

describe('a refused key', () => {
  it.each<[string, readonly number[], boolean, number, number]>([
    ['is not read again after a 404', [404], false, 404, 0],
    ['is not read again after a 422', [422], false, 422, 0],
    ['leads to the new one after a 401', [401, 200], true, 200, 1],
    ['leads to the new one after a 403', [403, 200], true, 200, 1],
    ['is what a request ends with if it is still the same after a 401', [401], false, 401, 1],
    ['is what a request ends with if it is still the same after a 403', [403], false, 403, 1],
    ['is not replaced a second time for one request', [401, 401], true, 401, 1],
  ])('%s', async (_, statuses, isRotated, status, reloads) => {
    const wire = scripted(...statuses.map((one) => anAnswer(one)));
    const bench = aSendBench(wire.send);
    if (isRotated) bench.keyProvider.rotate('key-2');

    expect(await bench.outcomeOf()).toBe(status);
    expect(bench.keyProvider.reloads()).toBe(reloads);
    expect(bench.headers.map((headers) => headers['Api-Key'])).toEqual(
      statuses.map((_status, index) => `key-${index + 1}`),
    );
    const again = { ...aRequest(), attempt: 2, retriedFor: 'auth' };
    expect(wire.requests).toMatchObject([aRequest(), again].slice(0, statuses.length));
  });

  it('is read after every 401, but after a 403 at most every ten seconds', async () => {
    const statuses = [403, 403, 401, 403, 403, 403];
    const bench = aSendBench(scripted(...statuses.map((status) => anAnswer(status))).send);
    const reloads: number[] = [];

    for (const waitMs of [0, 0, 0, 0, 9999, 1]) {
      await bench.clock.advance(waitMs);
      await bench.send();
      reloads.push(bench.keyProvider.reloads());
    }

    expect(reloads).toEqual([1, 1, 2, 2, 2, 3]);
  });

  it.each([401, 403])('is read once for requests that fail together with %d', async (status) => {
    const wire = held();
    const bench = aSendBench(wire.send);
    const outcomes = Promise.all([1, 2, 3].map(async () => bench.outcomeOf()));
    bench.keyProvider.rotate('key-2');
    await settle();

    wire.answerAll(anAnswer(status));
    await settle();
    wire.answerAll();

    expect(await outcomes).toEqual([200, 200, 200]);
    expect([bench.keyProvider.reloads(), wire.requests.length]).toEqual([1, 6]);
  });

  it('gives way to the one that another request has found in the meantime', async () => {
    const wire = held();
    const bench = aSendBench(wire.send);
    const outcome = bench.outcomeOf();
    await settle();
    bench.keyProvider.rotate('key-2');
    await bench.keyProvider.reload();

    wire.answer(anAnswer(401));
    await settle();
    wire.answer();

    expect([await outcome, bench.keyProvider.reloads()]).toEqual([200, 1]);
  });

  it('is not sent twice by a request that had waited while it was read', async () => {
    const bench = aSendBench(scripted(anAnswer(401)).send);
    bench.calls.key.throttled(aThrottled(1000));
    const outcome = bench.outcomeOf();
    bench.keyProvider.rotate('key-2');
    await bench.keyProvider.reload();

    expect([await outcome, bench.keyProvider.reloads()]).toEqual([401, 2]);
    expect(bench.headers).toEqual([{ 'Api-Key': 'key-2' }]);
  });

  it('is what the request ends with when no other can be read', async () => {
    const reload = async (): Promise<never> => Promise.reject(new Error('no such file'));

    expect(await aSendBench(scripted(anAnswer(401)).send, { reload }).outcomeOf()).toBe(401);
  });

  it('lets nothing more be sent once the caller has aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const wire = scripted(async () => {
      controller.abort(reason);
      return anAnswer(401);
    });
    const bench = aSendBench(wire.send);
    bench.keyProvider.rotate('key-2');

    expect(await bench.outcomeOf({}, controller.signal)).toBe(reason);
    expect(wire.requests).toHaveLength(1);
  });
});
